-- Flags of an earlier campaign that a re-run measured again, while they are judged: leased one by one, and gone when the
-- verdicts of the re-run are final.

CREATE TABLE repeated_flags (
    analysis_id bigint NOT NULL,                          -- of the new runs
    campaign_id integer NOT NULL,                         -- the re-run
    first_id bigint NOT NULL,                             -- the analysis that was flagged
    dip_q double precision NOT NULL,                      -- of the new runs, over all flags that were measured again
    token uuid,
    lease_until timestamptz,                              -- NULL: nobody has had it
    done boolean NOT NULL DEFAULT false,
    confirmation jsonb,                                   -- NULL: not done, or it cannot be judged
    CONSTRAINT repeated_flags_pkey PRIMARY KEY (analysis_id),
    CONSTRAINT repeated_flags_analysis_id_fkey FOREIGN KEY (analysis_id) REFERENCES analyses (id) ON DELETE CASCADE,
    CONSTRAINT repeated_flags_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns (id)
);
CREATE INDEX repeated_flags_campaign ON repeated_flags (campaign_id);
