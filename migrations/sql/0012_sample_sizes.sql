-- A setting may have a number of replicates of its own (imported results).

ALTER TABLE settings ADD COLUMN replicates integer;       -- NULL: as many as the campaign has
ALTER TABLE campaigns ADD COLUMN expected_runs integer;   -- NULL: the campaign's replicates of every setting
