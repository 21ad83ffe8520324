-- Counters and events that are kept as rows move.

CREATE FUNCTION tell(p_kind text, p_message text, p_campaign integer, p_node integer) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO events (kind, message, campaign_id, node_id) VALUES (p_kind, p_message, p_campaign, p_node);
$$;

-- Where this connection counts: those at work at the same time mostly differ, and do not wait for each other's commits.
CREATE FUNCTION counting_slot() RETURNS smallint LANGUAGE sql STABLE AS $$
    SELECT (pg_backend_pid() % 64)::smallint;
$$;

-- Keep job_counts true, whoever moves a job; wake the controller when there may be something to hand out, or to end.
CREATE FUNCTION count_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO job_counts AS c (campaign_id, state, slot, jobs)
        SELECT campaign_id, state, counting_slot(), count(*) FROM now_rows GROUP BY campaign_id, state
        ON CONFLICT (campaign_id, state, slot) DO UPDATE SET jobs = c.jobs + EXCLUDED.jobs;
    ELSE
        INSERT INTO job_counts AS c (campaign_id, state, slot, jobs)
        SELECT campaign_id, state, counting_slot(), sum(change) FROM (
            SELECT campaign_id, state, -1 AS change FROM old_rows
            UNION ALL SELECT campaign_id, state, 1 FROM now_rows
        ) AS moved
        GROUP BY campaign_id, state HAVING sum(change) <> 0
        ORDER BY campaign_id, state   -- one order for all, so that no two transactions wait for each other
        ON CONFLICT (campaign_id, state, slot) DO UPDATE SET jobs = c.jobs + EXCLUDED.jobs;
    END IF;
    -- One at a time: PostgreSQL lets those that notify commit one after the other, each with its wait for the disk.
    -- Whoever finds another at it leaves it to the controller, which looks twice whenever it was woken.
    IF EXISTS (SELECT FROM now_rows WHERE state NOT IN ('offered', 'leased'))
        AND pg_try_advisory_xact_lock(1836016756, 0) THEN
        PERFORM pg_notify('modescope', 'jobs');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_counted_on_insert AFTER INSERT ON jobs
    REFERENCING NEW TABLE AS now_rows FOR EACH STATEMENT EXECUTE FUNCTION count_jobs();
CREATE TRIGGER jobs_counted_on_update AFTER UPDATE ON jobs
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS now_rows FOR EACH STATEMENT EXECUTE FUNCTION count_jobs();

-- How many jobs of a campaign are in a state.
CREATE FUNCTION jobs_in(p_campaign integer, p_state text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(k.jobs), 0) FROM job_counts AS k WHERE k.campaign_id = p_campaign AND k.state = p_state;
$$;

-- What a campaign lacks: reason -> (setting, replicate) pairs of its jobs set aside that have no valid run.
CREATE FUNCTION missing_runs(p_campaign integer) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_object_agg(g.reason, g.missing), '{}') FROM (
        SELECT coalesce(j.reason, 'unknown') AS reason, count(*) AS missing
        FROM jobs AS j
        CROSS JOIN LATERAL generate_series(j.first_replicate, j.first_replicate + j.replicates - 1) AS k
        WHERE j.campaign_id = p_campaign AND j.state = 'set_aside' AND NOT EXISTS (
            SELECT FROM runs AS r WHERE r.setting_id = j.setting_id AND r.replicate = k AND r.validity = 'valid')
        GROUP BY coalesce(j.reason, 'unknown')
    ) AS g;
$$;

-- Keep analysis_counts true, whoever opens, leases, stores, judges or retires an analysis.
CREATE FUNCTION count_analyses() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO analysis_counts AS c (campaign_id, state, verdict, final, slot, analyses)
        SELECT campaign_id, state, coalesce(verdict, ''), final, counting_slot(), count(*) FROM now_rows WHERE current
        GROUP BY campaign_id, state, coalesce(verdict, ''), final
        ON CONFLICT (campaign_id, state, verdict, final, slot) DO UPDATE SET analyses = c.analyses + EXCLUDED.analyses;
    ELSE
        INSERT INTO analysis_counts AS c (campaign_id, state, verdict, final, slot, analyses)
        SELECT campaign_id, state, coalesce(verdict, ''), final, counting_slot(), sum(change) FROM (
            SELECT campaign_id, state, verdict, final, -1 AS change FROM old_rows WHERE current
            UNION ALL SELECT campaign_id, state, verdict, final, 1 FROM now_rows WHERE current
        ) AS moved
        GROUP BY campaign_id, state, coalesce(verdict, ''), final HAVING sum(change) <> 0
        ORDER BY campaign_id, state, coalesce(verdict, ''), final
        ON CONFLICT (campaign_id, state, verdict, final, slot) DO UPDATE SET analyses = c.analyses + EXCLUDED.analyses;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER analyses_counted_on_insert AFTER INSERT ON analyses
    REFERENCING NEW TABLE AS now_rows FOR EACH STATEMENT EXECUTE FUNCTION count_analyses();
CREATE TRIGGER analyses_counted_on_update AFTER UPDATE ON analyses
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS now_rows FOR EACH STATEMENT EXECUTE FUNCTION count_analyses();
