-- The digest of migrations/functions as last applied: functions are replaced when it differs.
ALTER TABLE ledger ADD COLUMN functions_digest text;
