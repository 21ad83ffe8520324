-- Rounds that several nodes carry out together (placement `lockstep`), shares by rate, and who holds rounds up.

ALTER TABLE campaigns DROP CONSTRAINT campaigns_placement_known;
ALTER TABLE campaigns ADD CONSTRAINT campaigns_placement_known
    CHECK (placement IN ('any', 'balanced', 'pinned', 'lockstep', 'by_rate'));

ALTER TABLE jobs ADD COLUMN round integer;          -- lockstep: jobs of one number begin together; NULL: any other placement
ALTER TABLE jobs ADD COLUMN round_begun boolean;    -- false: nobody has begun it; true: what still waits is left over
ALTER TABLE jobs ADD COLUMN ready_at timestamptz;   -- when the holder of this attempt had prepared its node
ALTER TABLE jobs ADD COLUMN start_at timestamptz;   -- the common instant at which this attempt was to begin
CREATE INDEX jobs_of_round ON jobs (campaign_id, round) WHERE round IS NOT NULL;
CREATE INDEX jobs_fresh ON jobs (campaign_id, round) WHERE state = 'queued' AND NOT round_begun;

-- Nodes that were found to hold up the rounds of a campaign: told once, until it has been otherwise for a while.
CREATE TABLE critical_nodes (
    campaign_id integer NOT NULL,
    node_id integer NOT NULL,
    named boolean NOT NULL,                         -- now
    since timestamptz NOT NULL,                     -- the first of the rounds that told it
    rounds integer NOT NULL,                        -- labelled rounds since then
    critical integer NOT NULL,                      -- of these
    chance double precision NOT NULL,               -- the share to be expected, were critical nodes drawn anew
    differs text,                                   -- what was observed otherwise on this node; NULL: nothing that tells
    told_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT critical_nodes_pkey PRIMARY KEY (campaign_id, node_id),
    CONSTRAINT critical_nodes_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns (id),
    CONSTRAINT critical_nodes_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes (id)
);
