-- Runs in half the space: wide columns first, and what was told and observed beside them, packed.

-- What engine and node said about the runs of one block (orchestrator/store/telemetry.py packs and unpacks it).
CREATE TABLE telemetry (
    id integer GENERATED ALWAYS AS IDENTITY,
    campaign_id integer NOT NULL,
    packed bytea NOT NULL,
    CONSTRAINT telemetry_pkey PRIMARY KEY (id)
);
ALTER TABLE telemetry ALTER COLUMN packed SET STORAGE EXTERNAL;  -- it is compressed as it comes

ALTER TABLE runs RENAME TO unpacked_runs;
ALTER TABLE unpacked_runs RENAME CONSTRAINT runs_pkey TO unpacked_runs_pkey;
ALTER INDEX runs_one_valid_per_replicate RENAME TO unpacked_runs_one_valid_per_replicate;
ALTER INDEX runs_not_valid RENAME TO unpacked_runs_not_valid;

CREATE TABLE runs (
    id uuid NOT NULL,
    started_at timestamptz NOT NULL,
    job_id integer NOT NULL,
    setting_id integer NOT NULL,
    replicate integer NOT NULL,
    session_id integer NOT NULL,
    sequence integer NOT NULL,
    previous_setting_id integer,
    telemetry_id integer,        -- NULL: nothing was told
    elapsed_s real NOT NULL,
    settle_s real,
    attempt smallint NOT NULL,
    try_number smallint NOT NULL,
    engine_build_id smallint NOT NULL,
    exit_status smallint,
    validity text NOT NULL,
    reason text NOT NULL,        -- '' for a valid run: a row without any NULL is 8 bytes shorter
    "values" double precision[] NOT NULL,
    CONSTRAINT runs_pkey PRIMARY KEY (id),
    CONSTRAINT runs_setting_id_fkey FOREIGN KEY (setting_id) REFERENCES settings (id),
    CONSTRAINT runs_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions (id),
    CONSTRAINT runs_engine_build_id_fkey FOREIGN KEY (engine_build_id) REFERENCES engine_builds (id),
    CONSTRAINT runs_validity_known CHECK (validity IN ('valid', 'invalid', 'superseded'))
);
-- This index decides which run counts.
CREATE UNIQUE INDEX runs_one_valid_per_replicate ON runs (setting_id, replicate) WHERE validity = 'valid';
CREATE INDEX runs_not_valid ON runs (setting_id, replicate) WHERE validity <> 'valid';

-- Whether an attempt brought something is read from its runs, when it has failed.
ALTER TABLE jobs DROP COLUMN brought;

-- Analyses by campaign and how far they are, kept by a trigger: progress counts, it never scans.
CREATE TABLE analysis_counts (
    campaign_id integer NOT NULL,
    state text NOT NULL,
    verdict text NOT NULL,       -- '': none yet
    final boolean NOT NULL,
    analyses integer NOT NULL,
    CONSTRAINT analysis_counts_pkey PRIMARY KEY (campaign_id, state, verdict, final)
);
INSERT INTO analysis_counts
SELECT campaign_id, state, coalesce(verdict, ''), final, count(*) FROM analyses WHERE current
GROUP BY campaign_id, state, coalesce(verdict, ''), final;
