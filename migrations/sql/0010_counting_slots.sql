-- Counters of a campaign in slots: who counts holds its row until its commit is on the disk, and in one row for all
-- every agent's job waited for the one before. A count is the sum of its slots, of which one alone may be negative.

ALTER TABLE job_counts ADD COLUMN slot smallint NOT NULL DEFAULT 0;
ALTER TABLE job_counts DROP CONSTRAINT job_counts_pkey;
ALTER TABLE job_counts ADD CONSTRAINT job_counts_pkey PRIMARY KEY (campaign_id, state, slot);

ALTER TABLE analysis_counts ADD COLUMN slot smallint NOT NULL DEFAULT 0;
ALTER TABLE analysis_counts DROP CONSTRAINT analysis_counts_pkey;
ALTER TABLE analysis_counts ADD CONSTRAINT analysis_counts_pkey PRIMARY KEY (campaign_id, state, verdict, final, slot);
