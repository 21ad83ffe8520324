-- What an agent may do, each in one statement of its own: hello, goodbye, claim, renew, record, finish, release_node.
-- The reconciler shares `fail_job`. State changes follow orchestrator/contracts/jobs.py (TRANSITIONS).

CREATE FUNCTION tell(p_kind text, p_message text, p_campaign integer, p_node integer) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO events (kind, message, campaign_id, node_id) VALUES (p_kind, p_message, p_campaign, p_node);
$$;

-- Keep job_counts true, and wake the controller, whoever moves a job.
CREATE FUNCTION count_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO job_counts AS c (campaign_id, state, jobs)
        SELECT campaign_id, state, count(*) FROM now_rows GROUP BY campaign_id, state
        ON CONFLICT (campaign_id, state) DO UPDATE SET jobs = c.jobs + EXCLUDED.jobs;
    ELSE
        INSERT INTO job_counts AS c (campaign_id, state, jobs)
        SELECT campaign_id, state, sum(change) FROM (
            SELECT campaign_id, state, -1 AS change FROM old_rows
            UNION ALL SELECT campaign_id, state, 1 FROM now_rows
        ) AS moved
        GROUP BY campaign_id, state HAVING sum(change) <> 0
        ORDER BY campaign_id, state   -- one order for all, so that no two transactions wait for each other
        ON CONFLICT (campaign_id, state) DO UPDATE SET jobs = c.jobs + EXCLUDED.jobs;
    END IF;
    IF EXISTS (SELECT FROM now_rows) THEN
        PERFORM pg_notify('modescope', 'jobs');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_counted_on_insert AFTER INSERT ON jobs
    REFERENCING NEW TABLE AS now_rows FOR EACH STATEMENT EXECUTE FUNCTION count_jobs();
CREATE TRIGGER jobs_counted_on_update AFTER UPDATE ON jobs
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS now_rows FOR EACH STATEMENT EXECUTE FUNCTION count_jobs();

-- A node is online while its agent has an open session and was heard of lately, or holds a live lease:
-- an agent says nothing while it measures.
CREATE VIEW node_status AS
SELECT n.*,
       held.id AS job_id,
       n.session_id IS NOT NULL
           AND (n.seen_at > clock_timestamp() - interval '45 s' OR coalesce(held.lease_until > clock_timestamp(), false))
           AS online
FROM nodes AS n LEFT JOIN jobs AS held ON held.node_id = n.id AND held.state = 'leased';

CREATE FUNCTION hello(
    p_name text, p_session uuid, p_boot text, p_version text, p_engines jsonb, p_facts jsonb
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_node integer;
    v_session integer;
BEGIN
    INSERT INTO nodes (name) VALUES (p_name) ON CONFLICT (name) DO NOTHING;
    SELECT id INTO v_node FROM nodes WHERE name = p_name FOR UPDATE;
    INSERT INTO sessions (key, node_id, boot_id, version) VALUES (p_session, v_node, p_boot, p_version)
        ON CONFLICT (key) DO NOTHING;
    SELECT id INTO v_session FROM sessions WHERE key = p_session AND ended_at IS NULL;
    IF v_session IS NULL THEN
        RETURN;  -- this session has ended: a late word from it changes nothing
    END IF;
    UPDATE sessions SET ended_at = clock_timestamp() WHERE node_id = v_node AND ended_at IS NULL AND id < v_session;
    UPDATE nodes SET session_id = v_session, seen_at = clock_timestamp(), engines = p_engines, facts = p_facts
        WHERE id = v_node AND coalesce(session_id, 0) <= v_session;
    PERFORM pg_notify('modescope', 'nodes');
END $$;

CREATE FUNCTION goodbye(p_session uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_session sessions;
BEGIN
    UPDATE sessions SET ended_at = clock_timestamp() WHERE key = p_session AND ended_at IS NULL RETURNING * INTO v_session;
    UPDATE nodes SET session_id = NULL WHERE id = v_session.node_id AND session_id = v_session.id;
    UPDATE jobs SET state = 'queued', node_id = NULL, offered_at = NULL
        WHERE node_id = v_session.node_id AND state = 'offered'
          AND NOT EXISTS (SELECT FROM nodes WHERE id = v_session.node_id AND session_id IS NOT NULL);
END $$;

-- How long a lease lasts: the time-out of one run and fifteen seconds.
CREATE FUNCTION lease_s(p_engine_options jsonb) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce((p_engine_options ->> 'timeout_s')::double precision, 600) + 15;
$$;

-- The replicates of a job that still have no valid run, each with the number of its next try: [[replicate, try], ...].
CREATE FUNCTION pending(p_job jobs) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_array(k, (
               SELECT count(*) FROM runs AS r
               WHERE r.setting_id = p_job.setting_id AND r.replicate = k AND r.validity <> 'valid')) ORDER BY k), '[]')
    FROM generate_series(p_job.first_replicate, p_job.first_replicate + p_job.replicates - 1) AS k
    WHERE NOT EXISTS (
        SELECT FROM runs AS r WHERE r.setting_id = p_job.setting_id AND r.replicate = k AND r.validity = 'valid');
$$;

CREATE FUNCTION claim(p_job bigint, p_session uuid) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_job jobs;
    v_campaign campaigns;
    v_setting settings;
    v_engine text;
    v_options jsonb;
    v_session sessions;
BEGIN
    SELECT * INTO v_session FROM sessions WHERE key = p_session AND ended_at IS NULL;
    SELECT t.* INTO v_setting FROM jobs AS j JOIN settings AS t ON t.id = j.setting_id WHERE j.id = p_job;
    SELECT * INTO v_campaign FROM campaigns WHERE id = v_setting.campaign_id;
    v_engine := CASE WHEN v_setting.control IS NULL THEN v_campaign.engine ELSE 'replay' END;
    v_options := CASE WHEN v_setting.control IS NULL THEN v_campaign.engine_options
                      ELSE v_campaign.controls -> v_setting.control END;
    UPDATE nodes SET seen_at = clock_timestamp() WHERE id = v_session.node_id AND session_id = v_session.id;
    UPDATE jobs AS j
    SET state = 'leased', token = gen_random_uuid(), session_id = v_session.id, attempt = attempt + 1, brought = 0,
        lease_until = clock_timestamp() + make_interval(secs => lease_s(v_options))
    FROM campaigns AS c, nodes AS n
    WHERE j.id = p_job AND j.state = 'offered' AND j.node_id = v_session.node_id
      AND c.id = j.campaign_id AND c.state = 'running' AND NOT c.paused
      AND n.id = j.node_id AND n.state = 'ready' AND n.session_id = v_session.id
    RETURNING j.* INTO v_job;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE campaigns SET first_claim_at = clock_timestamp() WHERE id = v_job.campaign_id AND first_claim_at IS NULL;
    RETURN jsonb_build_object(
        'job_id', v_job.id, 'campaign_id', v_job.campaign_id, 'setting_id', v_job.setting_id,
        'token', v_job.token, 'attempt', v_job.attempt,
        'factors', to_jsonb(v_campaign.factors), 'levels', v_setting.levels, 'modes', to_jsonb(v_setting.modes),
        'engine', v_engine, 'engine_options', v_options,
        'node_options', CASE WHEN v_setting.control IS NULL THEN v_campaign.node_options ELSE '{}' END,
        'pending', pending(v_job), 'max_tries', v_campaign.max_tries,
        'lease_s', lease_s(v_options), 'database_time', extract(epoch FROM clock_timestamp()),
        'ledger', (SELECT id FROM ledger));
EXCEPTION WHEN unique_violation THEN
    RETURN NULL;  -- jobs_one_lease_per_node: this node is at work on another job
END $$;

CREATE FUNCTION renew(p_job bigint, p_token uuid) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_answer jsonb;
BEGIN
    UPDATE jobs AS j
    SET lease_until = clock_timestamp() + make_interval(secs => lease_s(
        CASE WHEN t.control IS NULL THEN c.engine_options ELSE c.controls -> t.control END))
    FROM campaigns AS c, settings AS t
    WHERE j.id = p_job AND j.token = p_token AND j.state = 'leased' AND c.id = j.campaign_id AND t.id = j.setting_id
    RETURNING jsonb_build_object('granted', true, 'stop', CASE WHEN c.paused THEN 'pause' END) INTO v_answer;
    IF FOUND THEN
        UPDATE nodes SET seen_at = clock_timestamp() WHERE id = (SELECT node_id FROM jobs WHERE id = p_job);
        RETURN v_answer;
    END IF;
    RETURN jsonb_build_object('granted', false, 'stop',
        (SELECT 'cancel' FROM jobs WHERE id = p_job AND state = 'cancelled'));
END $$;

-- Does every replicate of the job have its valid run?
CREATE FUNCTION is_covered(p_job jobs) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT count(*) = p_job.replicates FROM runs AS r
    WHERE r.setting_id = p_job.setting_id AND r.validity = 'valid'
      AND r.replicate >= p_job.first_replicate AND r.replicate < p_job.first_replicate + p_job.replicates;
$$;

-- Nodes at work that the job is not kept from by pin or engine.
CREATE FUNCTION able_nodes(p_job jobs) RETURNS SETOF integer LANGUAGE sql STABLE AS $$
    SELECT n.id
    FROM campaigns AS c, settings AS t, node_status AS n
    WHERE c.id = p_job.campaign_id AND t.id = p_job.setting_id AND n.online AND n.state = 'ready'
      AND (p_job.pinned_node_id IS NULL OR p_job.pinned_node_id = n.id)
      AND (t.control IS NOT NULL OR c.engine = 'replay' OR n.engines ? c.engine);
$$;

-- Of those, the ones that are to have it: where it has not failed yet, or else where it may be tried again.
CREATE FUNCTION chosen_nodes(p_job jobs) RETURNS SETOF integer LANGUAGE sql STABLE AS $$
    WITH willing AS (
        SELECT a.id, EXISTS (
            SELECT FROM job_failures AS f
            WHERE f.job_id = p_job.id AND f.node_id = a.id AND (f.fruitless OR f.kind = 'node')) AS failed
        FROM able_nodes(p_job) AS a (id)
        WHERE NOT EXISTS (
            SELECT FROM job_failures AS f WHERE f.job_id = p_job.id AND f.node_id = a.id AND f.kind = 'study')
    )
    SELECT id FROM willing WHERE NOT failed OR NOT EXISTS (SELECT FROM willing WHERE NOT failed);
$$;

-- Has it failed too often (DESIGN 4)? Two nodes cannot do what the study asks, or three attempts on two nodes
-- were in vain; where there is no second node, the one is enough.
CREATE FUNCTION is_hopeless(p_job jobs) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT refusing >= 2 OR vain >= 3 AND vain_nodes >= 2
        OR (refusing >= 1 OR vain >= 3) AND (SELECT count(*) FROM able_nodes(p_job)) < 2
    FROM (
        SELECT count(DISTINCT node_id) FILTER (WHERE kind = 'study') AS refusing,
               count(*) FILTER (WHERE fruitless) AS vain,
               count(DISTINCT node_id) FILTER (WHERE fruitless) AS vain_nodes
        FROM job_failures WHERE job_id = p_job.id
    ) AS failures;
$$;

CREATE FUNCTION set_aside(p_job jobs, p_reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE jobs
    SET state = 'set_aside', node_id = NULL, session_id = NULL, token = NULL, lease_until = NULL, reason = p_reason
    WHERE id = p_job.id;
    PERFORM tell('job_set_aside', format('job %s set aside: %s', p_job.id, p_reason), p_job.campaign_id, NULL);
END $$;

-- Count a node-class failure: a job that fails again says nothing new, unless there is no other to try.
CREATE FUNCTION strike(p_job jobs, p_reason text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_node nodes;
BEGIN
    UPDATE nodes SET strikes = strikes + 1, struck_job_id = p_job.id
    WHERE id = p_job.node_id AND (struck_job_id IS DISTINCT FROM p_job.id OR NOT EXISTS (
        SELECT FROM jobs AS j WHERE j.id <> p_job.id AND j.state IN ('queued', 'offered', 'leased')))
    RETURNING * INTO v_node;
    IF v_node.strikes >= 3 AND v_node.state = 'ready' THEN
        UPDATE nodes SET state = 'quarantined', reason = p_reason WHERE id = v_node.id;
        UPDATE jobs SET state = 'queued', node_id = NULL, offered_at = NULL
        WHERE node_id = v_node.id AND state = 'offered';
        PERFORM tell('node_quarantined', format('node %s quarantined after %s failures in a row: %s',
            v_node.name, v_node.strikes, p_reason), p_job.campaign_id, v_node.id);
    END IF;
END $$;

-- Take a leased job back after a failure, and decide whether it, or its node, has failed too often.
CREATE FUNCTION fail_job(p_job bigint, p_kind text, p_reason text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_job jobs;
BEGIN
    SELECT * INTO v_job FROM jobs WHERE id = p_job AND state = 'leased' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO job_failures (job_id, attempt, node_id, kind, fruitless, reason)
    VALUES (p_job, v_job.attempt, v_job.node_id, p_kind, p_kind IN ('engine', 'lost') AND v_job.brought = 0, p_reason);
    IF p_kind = 'node' THEN
        PERFORM strike(v_job, p_reason);
    END IF;
    IF NOT is_covered(v_job) AND is_hopeless(v_job) THEN
        PERFORM set_aside(v_job, p_reason);
        RETURN;
    END IF;
    UPDATE jobs
    SET state = CASE WHEN is_covered(v_job) THEN 'done' ELSE 'queued' END,
        node_id = CASE WHEN is_covered(v_job) THEN node_id END,
        session_id = NULL, token = NULL, lease_until = NULL, offered_at = NULL, reason = p_reason
    WHERE id = p_job;
END $$;

CREATE FUNCTION finish(p_job bigint, p_token uuid, p_ending text, p_kind text, p_reason text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_job jobs;
    v_done boolean;
BEGIN
    SELECT * INTO v_job FROM jobs WHERE id = p_job AND token = p_token AND state = 'leased' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE nodes SET seen_at = clock_timestamp() WHERE id = v_job.node_id;
    v_done := is_covered(v_job);
    IF p_ending = 'fail' AND NOT v_done THEN
        PERFORM fail_job(p_job, p_kind, p_reason);
        RETURN true;
    END IF;
    UPDATE jobs
    SET state = CASE WHEN v_done THEN 'done' ELSE 'queued' END, node_id = CASE WHEN v_done THEN node_id END,
        session_id = NULL, token = NULL, lease_until = NULL, offered_at = NULL
    WHERE id = p_job;
    IF v_done THEN
        UPDATE nodes SET strikes = 0, struck_job_id = NULL WHERE id = v_job.node_id AND strikes > 0;
    END IF;
    RETURN true;
END $$;

CREATE FUNCTION release_node(p_name text, p_session uuid) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    v_jobs bigint[];
    v_job bigint;
BEGIN
    SELECT coalesce(array_agg(j.id), '{}') INTO v_jobs
    FROM jobs AS j JOIN nodes AS n ON n.id = j.node_id JOIN sessions AS s ON s.id = j.session_id
    WHERE n.name = p_name AND j.state = 'leased' AND s.key <> p_session;
    FOREACH v_job IN ARRAY v_jobs LOOP
        PERFORM fail_job(v_job, 'lost', format('the agent on %s died during the job', p_name));
    END LOOP;
    RETURN v_jobs;
END $$;

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
