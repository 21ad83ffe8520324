-- Who may. Secrets are kept as SHA-256 digests only: what stands here opens nothing.

CREATE TABLE tokens (
    id integer GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    scopes text[] NOT NULL,
    digest text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz,
    revoked_at timestamptz,
    used_at timestamptz,
    CONSTRAINT tokens_pkey PRIMARY KEY (id),
    CONSTRAINT tokens_digest_key UNIQUE (digest),
    CONSTRAINT tokens_scopes_known CHECK (scopes <@ ARRAY['read', 'submit', 'operate', 'admin'] AND scopes <> '{}')
);
-- A name says who it was in the audit log, so two tokens in force must not share one.
CREATE UNIQUE INDEX tokens_name_in_force ON tokens (name) WHERE revoked_at IS NULL;

CREATE TABLE sign_ins (
    digest text NOT NULL,
    token_id integer NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT sign_ins_pkey PRIMARY KEY (digest),
    CONSTRAINT sign_ins_token_id_fkey FOREIGN KEY (token_id) REFERENCES tokens (id)
);

-- No foreign key: a line outlives what it tells of.
CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    who text NOT NULL,
    what text NOT NULL,
    subject text NOT NULL,
    origin text NOT NULL,
    CONSTRAINT audit_pkey PRIMARY KEY (id)
);
