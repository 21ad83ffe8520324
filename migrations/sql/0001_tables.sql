-- The ledger. Rules live here as named constraints; orchestrator/store re-raises them as domain errors.
-- Every time in it is this database's clock_timestamp(): no decision compares the clocks of two machines.

CREATE TABLE ledger (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    reconciled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT ledger_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX ledger_is_one ON ledger ((true));
INSERT INTO ledger DEFAULT VALUES;

CREATE TABLE nodes (
    id integer GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    state text NOT NULL DEFAULT 'ready',
    reason text,
    session_id integer,          -- the open session; NULL: its agent has stopped
    seen_at timestamptz,
    strikes smallint NOT NULL DEFAULT 0,
    struck_job_id bigint,        -- strikes count only on different jobs
    engines jsonb NOT NULL DEFAULT '{}',
    facts jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT nodes_pkey PRIMARY KEY (id),
    CONSTRAINT nodes_name_key UNIQUE (name),
    CONSTRAINT nodes_state_known CHECK (state IN ('ready', 'draining', 'quarantined'))
);

CREATE TABLE sessions (
    id integer GENERATED ALWAYS AS IDENTITY,
    key uuid NOT NULL,
    node_id integer NOT NULL,
    boot_id text NOT NULL,
    version text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    CONSTRAINT sessions_pkey PRIMARY KEY (id),
    CONSTRAINT sessions_key_key UNIQUE (key),
    CONSTRAINT sessions_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes (id)
);

CREATE TABLE campaigns (
    id integer GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    parent_id integer,
    state text NOT NULL DEFAULT 'running',
    paused boolean NOT NULL DEFAULT false,
    study jsonb NOT NULL,
    digest text NOT NULL,
    idempotency_key text,
    factors text[] NOT NULL,
    engine text NOT NULL,
    engine_options jsonb NOT NULL,
    node_options jsonb NOT NULL,
    analysis_options jsonb NOT NULL,
    controls jsonb NOT NULL,     -- control name -> options of the engine `replay`
    placement text NOT NULL,
    replicates integer NOT NULL,
    max_tries smallint NOT NULL,
    setting_count integer NOT NULL,
    configuration_count integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    first_claim_at timestamptz,
    ended_at timestamptz,
    missing jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT campaigns_pkey PRIMARY KEY (id),
    CONSTRAINT campaigns_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES campaigns (id),
    CONSTRAINT campaigns_idempotency_key_key UNIQUE (idempotency_key),
    CONSTRAINT campaigns_state_known CHECK (state IN ('running', 'complete', 'incomplete', 'cancelled')),
    CONSTRAINT campaigns_placement_known CHECK (placement IN ('any', 'balanced', 'pinned')),
    CONSTRAINT campaigns_end_has_time CHECK ((state = 'running') = (ended_at IS NULL))
);

CREATE TABLE settings (
    id integer GENERATED ALWAYS AS IDENTITY,
    campaign_id integer NOT NULL,
    ordinal integer NOT NULL,
    levels jsonb NOT NULL,       -- an array in the order of the campaign's factors; empty for a control
    modes text[] NOT NULL,
    control text,
    valid_runs integer NOT NULL DEFAULT 0,
    CONSTRAINT settings_pkey PRIMARY KEY (id),
    CONSTRAINT settings_campaign_id_ordinal_key UNIQUE (campaign_id, ordinal),
    CONSTRAINT settings_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns (id)
);

CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY,
    campaign_id integer NOT NULL,
    setting_id integer NOT NULL,
    block integer NOT NULL,
    position integer NOT NULL,
    first_replicate integer NOT NULL,
    replicates integer NOT NULL,
    pinned_node_id integer,
    state text NOT NULL DEFAULT 'queued',
    node_id integer,             -- offered to, leased by, done by; NULL while queued
    session_id integer,          -- of the lease
    token uuid,                  -- proves the lease
    attempt integer NOT NULL DEFAULT 0,
    brought integer NOT NULL DEFAULT 0,   -- new valid runs of this attempt
    lease_until timestamptz,
    offered_at timestamptz,      -- last time a message was sent
    reason text,                 -- of its last failure
    CONSTRAINT jobs_pkey PRIMARY KEY (id),
    CONSTRAINT jobs_campaign_id_position_key UNIQUE (campaign_id, position),
    CONSTRAINT jobs_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns (id),
    CONSTRAINT jobs_setting_id_fkey FOREIGN KEY (setting_id) REFERENCES settings (id),
    CONSTRAINT jobs_state_known CHECK (state IN ('queued', 'offered', 'leased', 'done', 'set_aside', 'cancelled')),
    CONSTRAINT jobs_lease_is_whole CHECK ((state = 'leased') = (token IS NOT NULL AND lease_until IS NOT NULL)),
    CONSTRAINT jobs_node_when_taken CHECK (state NOT IN ('offered', 'leased') OR node_id IS NOT NULL),
    CONSTRAINT jobs_range_not_empty CHECK (replicates > 0 AND first_replicate >= 0)
);
CREATE INDEX jobs_queued ON jobs (campaign_id, position) WHERE state = 'queued';
CREATE INDEX jobs_pinned ON jobs (pinned_node_id) WHERE state = 'queued' AND pinned_node_id IS NOT NULL;
CREATE INDEX jobs_taken ON jobs (node_id, state) WHERE state IN ('offered', 'leased');
CREATE UNIQUE INDEX jobs_one_lease_per_node ON jobs (node_id) WHERE state = 'leased';
CREATE INDEX jobs_of_setting ON jobs (setting_id);

-- Jobs by state and campaign, kept by a trigger: progress counts, it never scans.
CREATE TABLE job_counts (
    campaign_id integer NOT NULL,
    state text NOT NULL,
    jobs integer NOT NULL,
    CONSTRAINT job_counts_pkey PRIMARY KEY (campaign_id, state)
);

CREATE TABLE job_failures (
    id bigint GENERATED ALWAYS AS IDENTITY,
    job_id bigint NOT NULL,
    attempt integer NOT NULL,
    node_id integer NOT NULL,
    kind text NOT NULL,
    fruitless boolean NOT NULL,  -- nobody else's fault, and no new valid run: it counts against the job
    reason text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT job_failures_pkey PRIMARY KEY (id),
    CONSTRAINT job_failures_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs (id),
    CONSTRAINT job_failures_kind_known CHECK (kind IN ('study', 'node', 'engine', 'lost'))
);
CREATE INDEX job_failures_of_job ON job_failures (job_id);

-- Name and version once, not with every run: a run is one short row.
CREATE TABLE engine_builds (
    id smallint GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    version text NOT NULL,
    CONSTRAINT engine_builds_pkey PRIMARY KEY (id),
    CONSTRAINT engine_builds_name_version_key UNIQUE (name, version)
);

CREATE TABLE runs (
    id uuid NOT NULL,
    job_id bigint NOT NULL,
    started_at timestamptz NOT NULL,
    elapsed_s double precision NOT NULL,
    setting_id integer NOT NULL,
    replicate integer NOT NULL,
    session_id integer NOT NULL,
    sequence integer NOT NULL,
    previous_setting_id integer,
    settle_s real,
    attempt smallint NOT NULL,
    try_number smallint NOT NULL,
    engine_build_id smallint NOT NULL,
    exit_status smallint,
    validity text NOT NULL,
    reason text,
    "values" double precision[] NOT NULL,
    details jsonb,
    observed jsonb,
    CONSTRAINT runs_pkey PRIMARY KEY (id),
    CONSTRAINT runs_setting_id_fkey FOREIGN KEY (setting_id) REFERENCES settings (id),
    CONSTRAINT runs_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions (id),
    CONSTRAINT runs_engine_build_id_fkey FOREIGN KEY (engine_build_id) REFERENCES engine_builds (id),
    CONSTRAINT runs_validity_known CHECK (validity IN ('valid', 'invalid', 'superseded'))
);
-- This index decides which run counts.
CREATE UNIQUE INDEX runs_one_valid_per_replicate ON runs (setting_id, replicate) WHERE validity = 'valid';
CREATE INDEX runs_not_valid ON runs (setting_id, replicate) WHERE validity <> 'valid';

-- What each node did for each campaign, in all and in slices of ten seconds.
CREATE TABLE shares (
    campaign_id integer NOT NULL,
    node_id integer NOT NULL,
    valid bigint NOT NULL DEFAULT 0,
    invalid bigint NOT NULL DEFAULT 0,
    superseded bigint NOT NULL DEFAULT 0,
    CONSTRAINT shares_pkey PRIMARY KEY (campaign_id, node_id)
);
CREATE TABLE paces (
    campaign_id integer NOT NULL,
    node_id integer NOT NULL,
    slice timestamptz NOT NULL,
    valid integer NOT NULL,
    CONSTRAINT paces_pkey PRIMARY KEY (campaign_id, slice, node_id)
);

CREATE TABLE analyses (
    id bigint GENERATED ALWAYS AS IDENTITY,
    campaign_id integer NOT NULL,
    setting_id integer NOT NULL,
    mode text NOT NULL,
    digest text NOT NULL,        -- of the ids of the runs it is about
    current boolean NOT NULL DEFAULT true,
    state text NOT NULL DEFAULT 'due',
    version text,                -- of the code that did it
    token uuid,
    lease_until timestamptz,
    analysed_at timestamptz,
    error text,
    verdict text,
    sentence text,
    final boolean NOT NULL DEFAULT false,
    components smallint,
    family text,
    bic double precision,
    density_modes smallint,
    bic_gap double precision,
    dip_p double precision,
    dip_q double precision,
    selection jsonb,
    CONSTRAINT analyses_pkey PRIMARY KEY (id),
    CONSTRAINT analyses_setting_id_fkey FOREIGN KEY (setting_id) REFERENCES settings (id),
    CONSTRAINT analyses_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns (id),
    CONSTRAINT analyses_state_known CHECK (state IN ('due', 'leased', 'done')),
    CONSTRAINT analyses_lease_is_whole CHECK ((state = 'leased') = (token IS NOT NULL AND lease_until IS NOT NULL))
);
CREATE UNIQUE INDEX analyses_one_current ON analyses (setting_id, mode) WHERE current;
CREATE INDEX analyses_open ON analyses (id) WHERE state <> 'done';
CREATE INDEX analyses_of_campaign ON analyses (campaign_id, verdict, final) WHERE current;

CREATE TABLE events (
    id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind text NOT NULL,
    message text NOT NULL,
    campaign_id integer,
    node_id integer,
    CONSTRAINT events_pkey PRIMARY KEY (id)
);
CREATE INDEX events_of_campaign ON events (campaign_id, id);
