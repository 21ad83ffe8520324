-- A campaign that grows: what it is to grow by, and what was decided at the end of each of its rounds.

ALTER TABLE campaigns ADD COLUMN growth jsonb;            -- contracts/rounds.py: Growth; NULL: measured as planned
ALTER TABLE analyses ADD COLUMN needed_runs integer;      -- what the target of an adaptive campaign asks for

CREATE TABLE rounds (
    campaign_id integer NOT NULL,
    number integer NOT NULL,                              -- of the round that ended, from 1
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    settings integer NOT NULL,                            -- that go on; 0: the campaign has grown enough
    runs integer NOT NULL,                                -- that the next round adds
    record jsonb NOT NULL,                                -- what the policy says of its decision
    CONSTRAINT rounds_pkey PRIMARY KEY (campaign_id, number),
    CONSTRAINT rounds_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns (id),
    CONSTRAINT rounds_count_up CHECK (number > 0 AND settings >= 0 AND runs >= 0 AND (settings = 0) = (runs = 0))
);
