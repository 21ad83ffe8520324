-- Runs come in, and complete their jobs and samples.

-- Is a setting's sample all that will be analysed? What was analysed before a campaign that grows ended inside a round,
-- is analysed with the runs that came since.
CREATE FUNCTION is_sample_complete(p_setting settings, p_campaign campaigns) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_setting.valid_runs = coalesce(p_setting.replicates, p_campaign.replicates)
        OR p_campaign.growth IS NOT NULL AND p_campaign.state <> 'running'
            AND EXISTS (SELECT FROM analyses AS a WHERE a.setting_id = p_setting.id);
$$;

-- Analyses are opened by the transaction that completes their sample; a new sample retires the old analysis.
CREATE FUNCTION open_analyses(p_settings integer[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_settings integer[];
    v_digests text[];
BEGIN
    SELECT array_agg(k.id), array_agg(k.digest) INTO v_settings, v_digests
    FROM (
        SELECT t.id, md5(string_agg(r.id::text, ',' ORDER BY r.replicate)) AS digest
        FROM settings AS t
        JOIN campaigns AS c ON c.id = t.campaign_id AND is_sample_complete(t, c)
        JOIN runs AS r ON r.setting_id = t.id AND r.validity = 'valid'
        WHERE t.id = ANY (p_settings)
        GROUP BY t.id
    ) AS k;
    -- A statement of its own: one that also opens would not see that the place of the current one is free.
    UPDATE analyses AS a SET current = false FROM unnest(v_settings, v_digests) AS k (id, digest)
    WHERE a.setting_id = k.id AND a.current AND a.digest <> k.digest;
    INSERT INTO analyses (campaign_id, setting_id, mode, digest, options_version)
    SELECT t.campaign_id, t.id, m.mode, k.digest, c.analysis_version
    FROM unnest(v_settings, v_digests) AS k (id, digest)
    JOIN settings AS t ON t.id = k.id JOIN campaigns AS c ON c.id = t.campaign_id
    CROSS JOIN LATERAL unnest(t.modes) WITH ORDINALITY AS m (mode, place)
    WHERE NOT EXISTS (
        SELECT FROM analyses AS a WHERE a.setting_id = k.id AND a.mode = m.mode AND a.digest = k.digest AND a.current)
    ORDER BY k.id, m.place;
    IF FOUND THEN
        PERFORM pg_notify('modescope', 'analyses');
    END IF;
END $$;

-- Take a batch in: runs in blocks, a block being what one session measured in one attempt at one job.
-- p_block is each run's block, from 1; p_values its values, as an array's text; p_packed a block's telemetry.
-- Returns the runs that came to something else than they say of themselves: superseded, known (seen before, the same)
-- or conflicting (seen before, with other values).
CREATE FUNCTION record(
    p_campaigns integer[], p_settings integer[], p_jobs bigint[], p_attempts smallint[], p_sessions uuid[],
    p_engines text[], p_versions text[], p_settles real[], p_packed bytea[],
    p_block integer[], p_ids uuid[], p_replicates integer[], p_tries smallint[], p_sequences integer[],
    p_previous integer[], p_started double precision[], p_elapsed real[], p_exits smallint[], p_valid boolean[],
    p_reasons text[], p_values text[]
) RETURNS TABLE (run_id uuid, outcome text) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan  -- the plan is the same for any batch, and making it costs more than a run
AS $$
DECLARE
    v_session_ids integer[];
    v_builds smallint[];
    v_first integer[];
    v_end integer[];
    v_modes integer[];
    v_telemetry integer[];
    v_stored uuid[] := '{}';
    v_jobs bigint[] := '{}';
    v_complete integer[] := '{}';
    v_turn record;
BEGIN
    PERFORM refuse_other_sessions(p_sessions);
    FOR turn IN 1..4 LOOP  -- those that do not get in at first are looked at, and try again
        SELECT array_agg(s.id ORDER BY b.place), array_agg(e.id ORDER BY b.place),
               array_agg(j.first_replicate ORDER BY b.place), array_agg(j.first_replicate + j.replicates ORDER BY b.place),
               array_agg(cardinality(t.modes) ORDER BY b.place),
               array_agg(CASE WHEN b.packed IS NOT NULL THEN nextval('telemetry_id_seq') END ORDER BY b.place)
        INTO v_session_ids, v_builds, v_first, v_end, v_modes, v_telemetry
        FROM unnest(p_sessions, p_engines, p_versions, p_campaigns, p_settings, p_jobs, p_packed) WITH ORDINALITY
             AS b (session, engine, version, campaign, setting, job, packed, place)
        LEFT JOIN sessions AS s ON s.key = b.session
        LEFT JOIN engine_builds AS e ON e.name = b.engine AND e.version = b.version
        LEFT JOIN jobs AS j ON j.id = b.job AND j.setting_id = b.setting
        LEFT JOIN settings AS t ON t.id = b.setting AND t.campaign_id = b.campaign;

        WITH arrived AS (
            SELECT r.*, r.measured_text::double precision[] AS measured
            FROM unnest(p_block, p_ids, p_replicates, p_tries, p_sequences, p_previous, p_started, p_elapsed, p_exits,
                        p_valid, p_reasons, p_values) WITH ORDINALITY
                 AS r (block, id, replicate, try_number, sequence, previous, started, elapsed_s, exit_status,
                       valid, reason, measured_text, place)
            OFFSET 0
        ), stored AS (
            INSERT INTO runs (
                id, started_at, job_id, setting_id, replicate, session_id, sequence, previous_setting_id, telemetry_id,
                elapsed_s, settle_s, attempt, try_number, engine_build_id, exit_status, validity, reason, "values")
            SELECT r.id, to_timestamp(r.started), p_jobs[r.block], p_settings[r.block], r.replicate,
                   v_session_ids[r.block], r.sequence, r.previous, v_telemetry[r.block], r.elapsed_s,
                   p_settles[r.block], p_attempts[r.block], r.try_number, v_builds[r.block], r.exit_status,
                   CASE WHEN NOT r.valid THEN 'invalid'
                        WHEN turn > 1 AND EXISTS (
                            SELECT FROM runs AS o WHERE o.setting_id = p_settings[r.block]
                            AND o.replicate = r.replicate AND o.validity = 'valid') THEN 'superseded'
                        ELSE 'valid' END,
                   coalesce(r.reason, ''), r.measured
            FROM arrived AS r
            WHERE v_session_ids[r.block] IS NOT NULL AND v_builds[r.block] IS NOT NULL
              AND r.replicate >= v_first[r.block] AND r.replicate < v_end[r.block]
              AND (cardinality(r.measured) = v_modes[r.block] OR NOT r.valid AND cardinality(r.measured) = 0)
            ORDER BY p_settings[r.block], r.replicate, r.place  -- one order for all: nobody waits for each other
            ON CONFLICT DO NOTHING
            RETURNING id, setting_id, job_id, session_id, telemetry_id, validity
        ), counted AS (
            SELECT k.setting_id, k.session_id, count(*) FILTER (WHERE k.validity = 'valid') AS valid,
                   count(*) FILTER (WHERE k.validity = 'invalid') AS invalid,
                   count(*) FILTER (WHERE k.validity = 'superseded') AS superseded
            FROM stored AS k GROUP BY k.setting_id, k.session_id
        ), sampled AS (
            UPDATE settings AS t SET valid_runs = t.valid_runs + k.valid
            FROM (SELECT c.setting_id, sum(c.valid) AS valid FROM counted AS c WHERE c.valid > 0
                  GROUP BY c.setting_id ORDER BY c.setting_id) AS k
            WHERE t.id = k.setting_id
            RETURNING t.id, t.campaign_id, t.valid_runs, t.replicates
        ), of_nodes AS (
            SELECT t.campaign_id, s.node_id, sum(c.valid) AS valid, sum(c.invalid) AS invalid,
                   sum(c.superseded) AS superseded
            FROM counted AS c JOIN settings AS t ON t.id = c.setting_id JOIN sessions AS s ON s.id = c.session_id
            GROUP BY t.campaign_id, s.node_id
        ), shared AS (
            INSERT INTO shares AS h (campaign_id, node_id, valid, invalid, superseded) SELECT * FROM of_nodes
            ON CONFLICT (campaign_id, node_id) DO UPDATE SET valid = h.valid + EXCLUDED.valid,
                invalid = h.invalid + EXCLUDED.invalid, superseded = h.superseded + EXCLUDED.superseded
        ), paced AS (
            INSERT INTO paces AS p (campaign_id, node_id, slice, valid)
            SELECT k.campaign_id, k.node_id, date_bin('10 s', clock_timestamp(), 'epoch'), k.valid
            FROM of_nodes AS k WHERE k.valid > 0 AND p_engines[1] <> 'imported'  -- which nobody measures now
            ON CONFLICT (campaign_id, slice, node_id) DO UPDATE SET valid = p.valid + EXCLUDED.valid
        )
        SELECT array_agg(k.id) AS ids, array_agg(DISTINCT k.job_id) AS jobs,
               array_agg(k.id) FILTER (WHERE k.validity = 'superseded') AS superseded,
               array_agg(DISTINCT k.telemetry_id) FILTER (WHERE k.telemetry_id IS NOT NULL) AS telemetry,
               (SELECT array_agg(k.id) FROM sampled AS k JOIN campaigns AS c ON c.id = k.campaign_id
                WHERE k.valid_runs = coalesce(k.replicates, c.replicates)
                   OR c.growth IS NOT NULL AND c.state <> 'running') AS complete
        INTO v_turn FROM stored AS k;
        IF v_turn.telemetry IS NOT NULL THEN
            INSERT INTO telemetry (id, campaign_id, packed) OVERRIDING SYSTEM VALUE
            SELECT b.id, b.campaign, b.packed FROM unnest(v_telemetry, p_campaigns, p_packed) AS b (id, campaign, packed)
            WHERE b.id = ANY (v_turn.telemetry);
        END IF;
        v_stored := v_stored || v_turn.ids;
        v_jobs := v_jobs || v_turn.jobs;
        v_complete := v_complete || v_turn.complete;
        RETURN QUERY SELECT k.id, 'superseded' FROM unnest(v_turn.superseded) AS k (id);
        EXIT WHEN cardinality(v_stored) = cardinality(p_ids);

        IF turn = 1 THEN
            PERFORM refuse_misfits(
                p_campaigns, p_settings, p_jobs, p_sessions, p_block, p_ids, p_replicates, p_valid, p_values);
            RETURN QUERY
                SELECT o.id, CASE WHEN o."values" = r.measured::double precision[] AND o.replicate = r.replicate
                                   AND o.setting_id = p_settings[r.block] AND (o.validity <> 'invalid') = r.valid
                                  THEN 'known' ELSE 'conflicting' END
                FROM unnest(p_block, p_ids, p_replicates, p_valid, p_values) AS r (block, id, replicate, valid, measured)
                JOIN runs AS o ON o.id = r.id
                WHERE r.id <> ALL (v_stored);
            INSERT INTO engine_builds (name, version)
            SELECT DISTINCT b.engine, b.version FROM unnest(p_engines, p_versions) AS b (engine, version)
            ON CONFLICT DO NOTHING;
        END IF;
        EXIT WHEN NOT EXISTS (SELECT FROM unnest(p_ids) AS r (id) WHERE NOT EXISTS (
            SELECT FROM runs AS o WHERE o.id = r.id));
    END LOOP;

    SELECT array_agg(j.id) INTO v_jobs FROM jobs AS j
    WHERE j.id = ANY (v_jobs) AND j.state IN ('queued', 'offered', 'set_aside') AND is_covered(j);
    IF v_jobs IS NOT NULL THEN
        UPDATE jobs AS j SET state = 'done', offered_at = NULL, node_id = k.node_id
        FROM (SELECT r.job_id, min(s.node_id) AS node_id FROM runs AS r JOIN sessions AS s ON s.id = r.session_id
              WHERE r.id = ANY (v_stored) GROUP BY r.job_id) AS k
        WHERE j.id = k.job_id AND j.id = ANY (v_jobs) AND j.state IN ('queued', 'offered', 'set_aside');
    END IF;
    IF cardinality(v_complete) > 0 THEN
        PERFORM open_analyses(v_complete);
    END IF;
END $$;

-- Raise, in words, why a run does not fit into the ledger, if one does not.
CREATE FUNCTION refuse_misfits(
    p_campaigns integer[], p_settings integer[], p_jobs bigint[], p_sessions uuid[],
    p_block integer[], p_ids uuid[], p_replicates integer[], p_valid boolean[], p_values text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_wrong text;
BEGIN
    SELECT CASE
        WHEN s.id IS NULL THEN format('run %s: session %s is not known here; was it made for another ledger?', r.id, b.session)
        WHEN t.id IS NULL THEN format('run %s: campaign %s has no setting %s', r.id, b.campaign, b.setting)
        WHEN j.id IS NULL THEN format('run %s: job %s does not hold replicate %s of its setting', r.id, b.job, r.replicate)
        ELSE format('run %s: %s values, but its setting has %s modes', r.id, cardinality(m.measured), cardinality(t.modes))
        END
    INTO v_wrong
    FROM unnest(p_block, p_ids, p_replicates, p_valid, p_values) AS r (block, id, replicate, valid, measured_text)
    JOIN unnest(p_sessions, p_campaigns, p_settings, p_jobs) WITH ORDINALITY AS b (session, campaign, setting, job, place)
        ON b.place = r.block
    CROSS JOIN LATERAL (SELECT r.measured_text::double precision[] AS measured) AS m
    LEFT JOIN sessions AS s ON s.key = b.session
    LEFT JOIN settings AS t ON t.id = b.setting AND t.campaign_id = b.campaign
    LEFT JOIN jobs AS j ON j.id = b.job AND j.setting_id = t.id
        AND r.replicate >= j.first_replicate AND r.replicate < j.first_replicate + j.replicates
    WHERE s.id IS NULL OR t.id IS NULL OR j.id IS NULL
       OR cardinality(m.measured) <> cardinality(t.modes) AND (r.valid OR cardinality(m.measured) > 0)
    LIMIT 1;
    IF v_wrong IS NOT NULL THEN
        RAISE EXCEPTION '%', v_wrong USING ERRCODE = 'check_violation';
    END IF;
END $$;

-- A row per value, for people and their tools.
CREATE VIEW measurements AS
SELECT r.id AS run_id, r.setting_id, t.campaign_id, m.mode, r.replicate, m.value AS throughput_kbps, r.validity
FROM runs AS r
JOIN settings AS t ON t.id = r.setting_id
CROSS JOIN LATERAL unnest(t.modes, r."values") AS m (mode, value);
