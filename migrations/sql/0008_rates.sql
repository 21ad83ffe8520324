-- How fast nodes work, and how long a campaign will take: written by the controller, read by everybody.

ALTER TABLE jobs ADD COLUMN done_at timestamptz;  -- NULL: not done, or done before this was kept
CREATE INDEX jobs_done ON jobs (campaign_id, done_at) WHERE done_at IS NOT NULL;

-- Rates are in runs of the campaign's average cost, a second, with a 95 % interval.
CREATE TABLE node_rates (
    campaign_id integer NOT NULL,
    node_id integer NOT NULL,
    runs_per_s double precision NOT NULL,
    low_per_s double precision NOT NULL,
    high_per_s double precision NOT NULL,
    runs integer NOT NULL,           -- that the estimate rests on
    since timestamptz NOT NULL,      -- the first of them: the phase began there
    at timestamptz NOT NULL,
    told_at timestamptz,             -- when a change of phase was told last
    CONSTRAINT node_rates_pkey PRIMARY KEY (campaign_id, node_id),
    CONSTRAINT node_rates_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns (id),
    CONSTRAINT node_rates_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes (id)
);
CREATE INDEX node_rates_of_node ON node_rates (node_id, at);

-- Time left with an 80 % interval; NULL: nobody can tell, and why.
CREATE TABLE forecasts (
    campaign_id integer NOT NULL,
    at timestamptz NOT NULL,
    runs_per_s double precision,
    low_per_s double precision,
    high_per_s double precision,
    time_left_s double precision,
    time_left_low_s double precision,
    time_left_high_s double precision,
    nodes integer NOT NULL,
    reason text NOT NULL,
    CONSTRAINT forecasts_pkey PRIMARY KEY (campaign_id),
    CONSTRAINT forecasts_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns (id)
);
