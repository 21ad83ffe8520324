-- What monitoring asks for, every few seconds.

ALTER TABLE analyses ADD COLUMN fit_s real;  -- what it took; NULL: not done, or done before this was kept
CREATE INDEX analyses_fitted ON analyses (fit_s) WHERE fit_s IS NOT NULL;  -- summed without a look at the rows
ALTER TABLE nodes ADD COLUMN spool_runs integer NOT NULL DEFAULT 0;  -- that had waited when its agent last reported
