-- Leases: claim, renew. State changes follow orchestrator/contracts/jobs.py (TRANSITIONS).

-- How long a lease lasts: the time-out of one run and fifteen seconds.
CREATE FUNCTION lease_s(p_engine_options jsonb) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce((p_engine_options ->> 'timeout_s')::double precision, 600) + 15;
$$;

-- The replicates of a job that still have no valid run, each with the number of its next try: [[replicate, try], ...].
CREATE FUNCTION pending(p_job jobs) RETURNS jsonb LANGUAGE sql STABLE AS $$
    WITH made AS (  -- two partial indexes hold each run once
        SELECT replicate, validity FROM runs
        WHERE setting_id = p_job.setting_id AND validity = 'valid'
          AND replicate BETWEEN p_job.first_replicate AND p_job.first_replicate + p_job.replicates - 1
        UNION ALL
        SELECT replicate, validity FROM runs
        WHERE setting_id = p_job.setting_id AND validity <> 'valid'
          AND replicate BETWEEN p_job.first_replicate AND p_job.first_replicate + p_job.replicates - 1
    )
    SELECT coalesce(jsonb_agg(jsonb_build_array(
               k, (SELECT count(*) FROM made AS m WHERE m.replicate = k AND m.validity <> 'valid')) ORDER BY k), '[]')
    FROM generate_series(p_job.first_replicate, p_job.first_replicate + p_job.replicates - 1) AS k
    WHERE k NOT IN (SELECT m.replicate FROM made AS m WHERE m.validity = 'valid');
$$;

CREATE FUNCTION claim(p_job bigint, p_session uuid) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_job jobs;
    v_campaign campaigns;
    v_setting settings;
    v_engine text;
    v_options jsonb;
    v_session sessions;
BEGIN
    PERFORM refuse_other_sessions(ARRAY[p_session]);
    SELECT * INTO v_session FROM sessions WHERE key = p_session AND ended_at IS NULL;
    SELECT t.* INTO v_setting FROM jobs AS j JOIN settings AS t ON t.id = j.setting_id WHERE j.id = p_job;
    SELECT * INTO v_campaign FROM campaigns WHERE id = v_setting.campaign_id;
    v_engine := CASE WHEN v_setting.control IS NULL THEN v_campaign.engine ELSE 'replay' END;
    v_options := CASE WHEN v_setting.control IS NULL THEN v_campaign.engine_options
                      ELSE v_campaign.controls -> v_setting.control END;
    UPDATE nodes SET seen_at = clock_timestamp()  -- to the second: what a node is goes with it each time
    WHERE id = v_session.node_id AND session_id = v_session.id AND seen_at < clock_timestamp() - interval '1 s';
    UPDATE jobs AS j
    SET state = 'leased', token = gen_random_uuid(), session_id = v_session.id, attempt = attempt + 1,
        lease_until = clock_timestamp() + make_interval(secs => lease_s(v_options)), ready_at = NULL, start_at = NULL
    FROM campaigns AS c, nodes AS n
    WHERE j.id = p_job AND j.state = 'offered' AND j.node_id = v_session.node_id
      AND c.id = j.campaign_id AND c.state = 'running' AND NOT c.paused
      AND n.id = j.node_id AND n.state = 'ready' AND n.session_id = v_session.id
    RETURNING j.* INTO v_job;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF v_campaign.first_claim_at IS NULL THEN  -- whoever cancels holds the campaign, and waits for this job: no waiting
        UPDATE campaigns SET first_claim_at = clock_timestamp() WHERE id = (
            SELECT id FROM campaigns WHERE id = v_job.campaign_id AND first_claim_at IS NULL
            FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    RETURN jsonb_build_object(
        'job_id', v_job.id, 'campaign_id', v_job.campaign_id, 'setting_id', v_job.setting_id,
        'token', v_job.token, 'attempt', v_job.attempt,
        'factors', to_jsonb(v_campaign.factors), 'levels', v_setting.levels, 'modes', to_jsonb(v_setting.modes),
        'engine', v_engine, 'engine_options', v_options,
        'node_options', CASE WHEN v_setting.control IS NULL THEN v_campaign.node_options ELSE '{}' END,
        'pending', pending(v_job), 'max_tries', v_campaign.max_tries,
        'lease_s', lease_s(v_options), 'database_time', extract(epoch FROM clock_timestamp()),
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
