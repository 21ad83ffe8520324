-- Leases: claim, renew. State changes follow orchestrator/contracts/jobs.py (TRANSITIONS).

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
    WHERE NOT EXISTS (SELECT FROM runs AS r
                      WHERE r.setting_id = p_job.setting_id AND r.replicate = k AND r.validity = 'valid');
$$;

CREATE FUNCTION claim(p_job bigint, p_session uuid) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan  -- rows by their keys: planning each call anew costs more than they do
AS $$
DECLARE
    v_job jobs;
    v_node record;
    v_work record;
BEGIN
    PERFORM refuse_other_sessions(ARRAY[p_session]);
    SELECT n.id, n.seen_at, s.id AS session_id INTO v_node
    FROM sessions AS s JOIN nodes AS n ON n.id = s.node_id WHERE s.key = p_session AND s.ended_at IS NULL;
    SELECT t.levels, t.modes, c.factors, c.max_tries, c.first_claim_at,
           CASE WHEN t.control IS NULL THEN c.engine ELSE 'replay' END AS engine,
           CASE WHEN t.control IS NULL THEN c.engine_options ELSE c.controls -> t.control END AS engine_options,
           CASE WHEN t.control IS NULL THEN c.node_options ELSE '{}' END AS node_options
    INTO v_work
    FROM jobs AS j JOIN settings AS t ON t.id = j.setting_id JOIN campaigns AS c ON c.id = t.campaign_id
    WHERE j.id = p_job;
    IF v_node.seen_at < clock_timestamp() - interval '1 s' THEN  -- to the second: what a node is goes with it each time
        UPDATE nodes SET seen_at = clock_timestamp() WHERE id = v_node.id AND session_id = v_node.session_id;
    END IF;
    UPDATE jobs AS j
    SET state = 'leased', token = gen_random_uuid(), session_id = v_node.session_id, attempt = attempt + 1,
        lease_until = clock_timestamp() + make_interval(secs => lease_s(v_work.engine_options)), ready_at = NULL, start_at = NULL
    FROM campaigns AS c, nodes AS n
    WHERE j.id = p_job AND j.state = 'offered' AND j.node_id = v_node.id
      AND c.id = j.campaign_id AND c.state = 'running' AND NOT c.paused
      AND n.id = j.node_id AND n.state = 'ready' AND n.session_id = v_node.session_id
    RETURNING j.* INTO v_job;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF v_work.first_claim_at IS NULL THEN  -- whoever cancels holds the campaign, and waits for this job: no waiting
        UPDATE campaigns SET first_claim_at = clock_timestamp() WHERE id = (
            SELECT id FROM campaigns WHERE id = v_job.campaign_id AND first_claim_at IS NULL
            FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    RETURN jsonb_build_object(
        'job_id', v_job.id, 'campaign_id', v_job.campaign_id, 'setting_id', v_job.setting_id,
        'token', v_job.token, 'attempt', v_job.attempt,
        'factors', to_jsonb(v_work.factors), 'levels', v_work.levels, 'modes', to_jsonb(v_work.modes),
        'engine', v_work.engine, 'engine_options', v_work.engine_options, 'node_options', v_work.node_options,
        'pending', pending(v_job), 'max_tries', v_work.max_tries,
        'lease_s', lease_s(v_work.engine_options), 'database_time', extract(epoch FROM clock_timestamp()),
        'ledger', (SELECT id FROM ledger), 'round', v_job.round);
EXCEPTION WHEN unique_violation THEN
    RETURN NULL;  -- jobs_one_lease_per_node: this node is at work on another job
END $$;

CREATE FUNCTION renew(p_job bigint, p_token uuid) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_answer jsonb;
BEGIN
    PERFORM refuse_other_node(n.name)
    FROM jobs AS j JOIN nodes AS n ON n.id = j.node_id WHERE j.id = p_job AND j.token = p_token;
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

-- Would the next who connects be refused? What the server keeps in reserve is not for agents.
CREATE FUNCTION no_connection_is_free() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT sum(s.numbackends) >= current_setting('max_connections')::integer
               - current_setting('superuser_reserved_connections')::integer
               - coalesce(current_setting('reserved_connections', true)::integer, 0)  -- from version 16 on
        OR bool_or(d.datconnlimit >= 0 AND s.numbackends >= d.datconnlimit AND d.datname = current_database())
    FROM pg_stat_database AS s JOIN pg_database AS d ON d.oid = s.datid;
$$;

-- Does every replicate of the job have its valid run?
CREATE FUNCTION is_covered(p_job jobs) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT count(*) = p_job.replicates FROM runs AS r
    WHERE r.setting_id = p_job.setting_id AND r.validity = 'valid'
      AND r.replicate >= p_job.first_replicate AND r.replicate < p_job.first_replicate + p_job.replicates;
$$;
