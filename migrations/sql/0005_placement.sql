-- Whose share of a campaign is whose, and since when a node is away.

ALTER TABLE nodes ADD COLUMN offline_since timestamptz;  -- as the reconciler saw it; NULL: online
ALTER TABLE campaigns ADD COLUMN on_lost_node text NOT NULL DEFAULT 'reassign'
    CONSTRAINT campaigns_on_lost_node_known CHECK (on_lost_node IN ('reassign', 'wait'));

-- Nodes that have a share of a campaign's jobs (balanced, pinned), or had one.
CREATE TABLE campaign_nodes (
    campaign_id integer NOT NULL,
    node_id integer NOT NULL,
    lost_at timestamptz,         -- when its share was given to the others
    CONSTRAINT campaign_nodes_pkey PRIMARY KEY (campaign_id, node_id),
    CONSTRAINT campaign_nodes_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns (id),
    CONSTRAINT campaign_nodes_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes (id)
);
INSERT INTO campaign_nodes (campaign_id, node_id)
SELECT DISTINCT campaign_id, pinned_node_id FROM jobs WHERE pinned_node_id IS NOT NULL;

ALTER TABLE jobs ADD COLUMN failures smallint NOT NULL DEFAULT 0;
UPDATE jobs AS j SET failures = f.failures
FROM (SELECT job_id, count(*) AS failures FROM job_failures GROUP BY job_id) AS f WHERE f.job_id = j.id;

ALTER TABLE job_failures DROP COLUMN fruitless;  -- read from the runs, which may come later (is_fruitless)

-- What dispatch looks for: what anybody may have; what is a node's own, by the study (pinned) or as dealt (balanced).
DROP INDEX jobs_queued;
DROP INDEX jobs_pinned;
CREATE INDEX jobs_queued ON jobs (campaign_id, position) WHERE state = 'queued' AND pinned_node_id IS NULL;
CREATE INDEX jobs_own ON jobs (pinned_node_id, campaign_id, position)
    WHERE state = 'queued' AND pinned_node_id IS NOT NULL;
CREATE INDEX jobs_failed ON jobs (campaign_id, position) WHERE state = 'queued' AND failures > 0;
CREATE INDEX jobs_set_aside ON jobs (campaign_id) WHERE state = 'set_aside';

-- What a pass asks every half second, at any number of analyses.
CREATE INDEX analyses_undone ON analyses (campaign_id) WHERE current AND state <> 'done';
CREATE INDEX analyses_not_final ON analyses (campaign_id) WHERE current AND NOT final;
