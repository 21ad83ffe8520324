-- Logs of jobs from elsewhere, joined when they are asked for: by job id, and by the time in which a program ran.

CREATE TABLE scheduled_jobs (
    job_id text PRIMARY KEY,
    name text,
    user_name text,
    group_name text,
    partition text,
    state text,
    submitted_s double precision,   -- all times: since 1970, UTC
    started_s double precision,
    ended_s double precision,
    processes integer,
    nodes integer,
    time_limit_s double precision
);

CREATE TABLE program_logs (
    digest text PRIMARY KEY,        -- SHA-256 of the Darshan log
    file_name text NOT NULL,
    job_id text NOT NULL,
    program text NOT NULL,
    user_name text NOT NULL,
    started_s double precision NOT NULL,
    runtime_s double precision NOT NULL,
    processes integer NOT NULL,
    mount text,
    osts integer[] NOT NULL,
    features jsonb NOT NULL         -- by the names of Kim et al. (2020), Table 1
);
CREATE INDEX program_logs_started ON program_logs (started_s);

CREATE TABLE log_file_systems (
    name text PRIMARY KEY,
    osts text[] NOT NULL,           -- the order of the numbers in samples
    osss text[] NOT NULL
);

CREATE TABLE log_mounts (
    mount text PRIMARY KEY,         -- as programs see it
    file_system text NOT NULL       -- as LMT calls it; its samples may come later
);

CREATE TABLE file_system_samples (
    file_system text NOT NULL REFERENCES log_file_systems,
    at_s double precision NOT NULL,
    read_bytes_per_s real[] NOT NULL,      -- of each OST; NaN: missing
    written_bytes_per_s real[] NOT NULL,
    oss_cpu_percent real[] NOT NULL,       -- of each OSS
    mds_cpu_percent real NOT NULL,
    mds_ops_per_s real NOT NULL,
    PRIMARY KEY (file_system, at_s)
);
