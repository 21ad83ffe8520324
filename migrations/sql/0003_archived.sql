-- An archived campaign stays listed; its rows are in the archive's folder. `archive`: {"folder": ..., "digest": ...}.
ALTER TABLE campaigns ADD COLUMN archived_at timestamptz, ADD COLUMN archive jsonb;
ALTER TABLE campaigns ADD CONSTRAINT campaigns_archived_is_whole
    CHECK ((archived_at IS NULL) = (archive IS NULL) AND (archived_at IS NULL OR state <> 'running'));
