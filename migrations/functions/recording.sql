-- Runs come in, and complete their jobs and samples.

-- Analyses are opened by the transaction that completes their sample; a new sample retires the old analysis.
CREATE FUNCTION open_analyses(p_settings integer[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH complete AS (
        SELECT t.id, t.campaign_id, t.modes, md5(string_agg(r.id::text, ',' ORDER BY r.replicate)) AS digest
        FROM settings AS t
        JOIN campaigns AS c ON c.id = t.campaign_id AND t.valid_runs = c.replicates
        JOIN runs AS r ON r.setting_id = t.id AND r.validity = 'valid'
        WHERE t.id = ANY (p_settings)
        GROUP BY t.id
    ), retired AS (
        UPDATE analyses AS a SET current = false FROM complete AS k
        WHERE a.setting_id = k.id AND a.current AND a.digest <> k.digest
    )
    INSERT INTO analyses (campaign_id, setting_id, mode, digest)
    SELECT k.campaign_id, k.id, m.mode, k.digest
    FROM complete AS k CROSS JOIN LATERAL unnest(k.modes) WITH ORDINALITY AS m (mode, place)
    WHERE NOT EXISTS (
        SELECT FROM analyses AS a WHERE a.setting_id = k.id AND a.mode = m.mode AND a.digest = k.digest AND a.current)
    ORDER BY k.id, m.place;
    IF FOUND THEN
        PERFORM pg_notify('modescope', 'analyses');
    END IF;
END $$;

-- A batch of runs, as Run.as_dict() writes them, as rows; `nth` counts the valid ones of one replicate within the batch.
CREATE FUNCTION arrivals(p_runs jsonb) RETURNS TABLE (
    id uuid, campaign_id integer, job_id bigint, started_at timestamptz, elapsed_s double precision, setting_id integer,
    replicate integer, session uuid, sequence integer, previous_setting_id integer, settle_s real, attempt smallint, try_number smallint,
    exit_status smallint, valid boolean, reason text, measured double precision[], details jsonb, observed jsonb,
    engine text, engine_version text, nth bigint
) LANGUAGE sql STABLE AS $$
    SELECT r.id, r.campaign_id, r.job_id, to_timestamp(r.started_at), r.elapsed_s, r.setting_id, r.replicate, r.session,
           r.sequence, r.previous_setting_id, r.settle_s, r.attempt, r.try_number, r.exit_status, r.valid, r.reason,
           ARRAY(SELECT jsonb_array_elements_text(r."values")::double precision),
           nullif(r.details, '{}'), nullif(r.observed, '{}'), r.engine, r.engine_version,
           row_number() OVER (PARTITION BY r.valid, r.setting_id, r.replicate ORDER BY place)
    FROM ROWS FROM (jsonb_to_recordset(p_runs) AS (
        id uuid, campaign_id integer, job_id bigint, started_at double precision, elapsed_s double precision,
        setting_id integer, replicate integer, session uuid, sequence integer, previous_setting_id integer, settle_s real, attempt smallint,
        try_number smallint, exit_status smallint, valid boolean, reason text, "values" jsonb, details jsonb,
        observed jsonb, engine text, engine_version text)) WITH ORDINALITY AS r (
        id, campaign_id, job_id, started_at, elapsed_s, setting_id, replicate, session, sequence, previous_setting_id,
        settle_s, attempt, try_number, exit_status, valid, reason, "values", details, observed, engine, engine_version, place);
$$;

-- Take a batch in. Returns each run's id and what became of it:
-- valid, invalid, superseded, known (seen before, the same) or conflicting (seen before, with other values).
CREATE FUNCTION record(p_runs jsonb) RETURNS TABLE (run_id uuid, outcome text) LANGUAGE plpgsql AS $$
DECLARE
    v_wrong text;
    v_new uuid[];
BEGIN
    SELECT CASE
        WHEN s.id IS NULL THEN format('run %s: session %s is not known here; was it made for another ledger?', g.id, g.session)
        WHEN t.id IS NULL THEN format('run %s: campaign %s has no setting %s', g.id, g.campaign_id, g.setting_id)
        WHEN j.id IS NULL THEN format('run %s: job %s does not hold replicate %s of its setting', g.id, g.job_id, g.replicate)
        ELSE format('run %s: %s values, but its setting has %s modes', g.id, cardinality(g.measured), cardinality(t.modes))
        END
    INTO v_wrong
    FROM arrivals(p_runs) AS g
    LEFT JOIN sessions AS s ON s.key = g.session
    LEFT JOIN settings AS t ON t.id = g.setting_id AND t.campaign_id = g.campaign_id
    LEFT JOIN jobs AS j ON j.id = g.job_id AND j.setting_id = t.id
        AND g.replicate >= j.first_replicate AND g.replicate < j.first_replicate + j.replicates
    WHERE s.id IS NULL OR t.id IS NULL OR j.id IS NULL
       OR cardinality(g.measured) <> cardinality(t.modes) AND (g.valid OR cardinality(g.measured) > 0)
    LIMIT 1;
    IF v_wrong IS NOT NULL THEN
        RAISE EXCEPTION '%', v_wrong USING ERRCODE = 'check_violation';
    END IF;

    RETURN QUERY
        SELECT g.id, CASE WHEN r."values" = g.measured AND (r.validity = 'invalid') = (NOT g.valid)
                          THEN 'known' ELSE 'conflicting' END
        FROM arrivals(p_runs) AS g JOIN runs AS r ON r.id = g.id;
    SELECT array_agg(DISTINCT g.id) INTO v_new
    FROM arrivals(p_runs) AS g WHERE NOT EXISTS (SELECT FROM runs AS r WHERE r.id = g.id);
    IF v_new IS NULL THEN
        RETURN;
    END IF;

    INSERT INTO engine_builds (name, version)
    SELECT DISTINCT g.engine, g.engine_version FROM arrivals(p_runs) AS g
    WHERE NOT EXISTS (SELECT FROM engine_builds AS b WHERE b.name = g.engine AND b.version = g.engine_version)
    ON CONFLICT DO NOTHING;
    -- Twice: whoever loses a race for a replicate comes in as superseded.
    FOR turn IN 1..2 LOOP
        INSERT INTO runs (
            id, job_id, started_at, elapsed_s, setting_id, replicate, session_id, sequence, previous_setting_id,
            settle_s, attempt, try_number, engine_build_id, exit_status, validity, reason, "values", details, observed)
        SELECT g.id, g.job_id, g.started_at, g.elapsed_s, g.setting_id, g.replicate, s.id, g.sequence,
               g.previous_setting_id, g.settle_s, g.attempt, g.try_number, b.id, g.exit_status,
               CASE WHEN NOT g.valid THEN 'invalid'
                    WHEN turn = 2 OR g.nth > 1 OR EXISTS (
                        SELECT FROM runs AS r WHERE r.setting_id = g.setting_id AND r.replicate = g.replicate
                        AND r.validity = 'valid') THEN 'superseded'
                    ELSE 'valid' END,
               g.reason, g.measured, g.details, g.observed
        FROM arrivals(p_runs) AS g
        JOIN sessions AS s ON s.key = g.session
        JOIN engine_builds AS b ON b.name = g.engine AND b.version = g.engine_version
        WHERE NOT EXISTS (SELECT FROM runs AS r WHERE r.id = g.id)
        ON CONFLICT DO NOTHING;
        EXIT WHEN (SELECT count(*) FROM runs AS r WHERE r.id = ANY (v_new)) = cardinality(v_new);
    END LOOP;

    UPDATE settings AS t SET valid_runs = t.valid_runs + k.runs
    FROM (SELECT r.setting_id, count(*) AS runs FROM runs AS r
          WHERE r.id = ANY (v_new) AND r.validity = 'valid' GROUP BY r.setting_id) AS k
    WHERE t.id = k.setting_id;
    INSERT INTO shares AS h (campaign_id, node_id, valid, invalid, superseded)
    SELECT t.campaign_id, s.node_id, count(*) FILTER (WHERE r.validity = 'valid'),
           count(*) FILTER (WHERE r.validity = 'invalid'), count(*) FILTER (WHERE r.validity = 'superseded')
    FROM runs AS r JOIN settings AS t ON t.id = r.setting_id JOIN sessions AS s ON s.id = r.session_id
    WHERE r.id = ANY (v_new) GROUP BY t.campaign_id, s.node_id
    ON CONFLICT (campaign_id, node_id) DO UPDATE SET valid = h.valid + EXCLUDED.valid,
        invalid = h.invalid + EXCLUDED.invalid, superseded = h.superseded + EXCLUDED.superseded;
    INSERT INTO paces AS p (campaign_id, node_id, slice, valid)
    SELECT t.campaign_id, s.node_id, date_bin('10 s', clock_timestamp(), 'epoch'), count(*)
    FROM runs AS r JOIN settings AS t ON t.id = r.setting_id JOIN sessions AS s ON s.id = r.session_id
    WHERE r.id = ANY (v_new) AND r.validity = 'valid' GROUP BY t.campaign_id, s.node_id
    ON CONFLICT (campaign_id, slice, node_id) DO UPDATE SET valid = p.valid + EXCLUDED.valid;
    UPDATE jobs AS j SET brought = j.brought + k.runs
    FROM (SELECT r.job_id, count(*) AS runs FROM runs AS r
          WHERE r.id = ANY (v_new) AND r.validity = 'valid' GROUP BY r.job_id) AS k
    WHERE j.id = k.job_id AND j.state = 'leased';
    UPDATE jobs AS j SET state = 'done', node_id = k.node_id, offered_at = NULL
    FROM (SELECT r.job_id, min(s.node_id) AS node_id FROM runs AS r JOIN sessions AS s ON s.id = r.session_id
          WHERE r.id = ANY (v_new) GROUP BY r.job_id) AS k
    WHERE j.id = k.job_id
      AND j.state IN ('queued', 'offered', 'set_aside') AND is_covered(j);
    PERFORM open_analyses(ARRAY(
        SELECT DISTINCT r.setting_id FROM runs AS r WHERE r.id = ANY (v_new) AND r.validity = 'valid'));
    RETURN QUERY SELECT r.id, r.validity FROM runs AS r WHERE r.id = ANY (v_new);
END $$;

-- A row per value, for people and their tools.
CREATE VIEW measurements AS
SELECT r.id AS run_id, r.setting_id, t.campaign_id, m.mode, r.replicate, m.value AS throughput_kbps, r.validity
FROM runs AS r
JOIN settings AS t ON t.id = r.setting_id
CROSS JOIN LATERAL unnest(t.modes, r."values") AS m (mode, value);
