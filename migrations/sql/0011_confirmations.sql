-- What a re-run says about a flag: kept with the analysis of the new runs, as contracts/confirmations.py has it.

ALTER TABLE analyses ADD COLUMN confirmation jsonb;  -- NULL: not flagged before, or not judged yet
