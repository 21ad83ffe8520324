-- The analysis block as it was submitted is version 1; a later change is another, and a campaign shows one at a time.

CREATE TABLE analysis_versions (
    campaign_id integer NOT NULL,
    number integer NOT NULL,                              -- 1: as submitted; any other is exploratory
    options jsonb NOT NULL,
    digest text NOT NULL,                                 -- SHA-256 of the options as canonical JSON
    why text NOT NULL,                                    -- empty for the first
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT analysis_versions_pkey PRIMARY KEY (campaign_id, number),
    CONSTRAINT analysis_versions_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns (id),
    CONSTRAINT analysis_versions_change_has_reason CHECK (number = 1 OR number > 1 AND why <> '')
);
ALTER TABLE campaigns ADD COLUMN analysis_version integer NOT NULL DEFAULT 1;  -- shown; analysis_options are its options
ALTER TABLE analyses ADD COLUMN options_version integer NOT NULL DEFAULT 1;
