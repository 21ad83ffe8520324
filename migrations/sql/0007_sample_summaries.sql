-- What maps and summaries of a whole design show of every configuration, beside the whole selection.
-- NULL: analysed before these were kept; a new analysis fills them.

ALTER TABLE analyses ADD COLUMN median double precision;
ALTER TABLE analyses ADD COLUMN variation double precision;  -- standard deviation / mean
ALTER TABLE analyses ADD COLUMN family_bics jsonb;           -- family -> BIC of its best fit
