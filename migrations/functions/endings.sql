-- How a job is given back, and when it or its node has failed too often. State changes follow TRANSITIONS.

CREATE FUNCTION set_aside(p_job jobs, p_reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE jobs
    SET state = 'set_aside', node_id = NULL, session_id = NULL, token = NULL, lease_until = NULL, reason = p_reason
    WHERE id = p_job.id;
    PERFORM tell('job_set_aside', format('job %s set aside: %s', p_job.id, p_reason), p_job.campaign_id, NULL);
END $$;

-- Set every job of a campaign aside that nobody holds; how many that were.
CREATE FUNCTION give_up(p_campaign integer, p_reason text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_jobs integer;
BEGIN
    UPDATE jobs SET state = 'set_aside', node_id = NULL, offered_at = NULL, reason = p_reason
    WHERE campaign_id = p_campaign AND state IN ('queued', 'offered');
    GET DIAGNOSTICS v_jobs = ROW_COUNT;
    RETURN v_jobs;
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
    INSERT INTO job_failures (job_id, attempt, node_id, kind, reason)
    VALUES (p_job, v_job.attempt, v_job.node_id, p_kind, p_reason);
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
        session_id = NULL, token = NULL, lease_until = NULL, offered_at = NULL, reason = p_reason,
        failures = failures + 1
    WHERE id = p_job;
    -- Balanced: another node is to have it, so who has which of this setting's jobs is dealt again.
    UPDATE jobs AS j SET pinned_node_id = NULL
    FROM campaigns AS c
    WHERE j.setting_id = v_job.setting_id AND j.state = 'queued' AND j.pinned_node_id IS NOT NULL
      AND c.id = j.campaign_id AND is_dealt(c.placement);
END $$;

CREATE FUNCTION finish(p_job bigint, p_token uuid, p_ending text, p_kind text, p_reason text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_job jobs;
    v_node record;
    v_done boolean;
BEGIN
    SELECT * INTO v_job FROM jobs WHERE id = p_job AND token = p_token AND state = 'leased' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT name, seen_at, strikes INTO v_node FROM nodes WHERE id = v_job.node_id;
    PERFORM refuse_other_node(v_node.name);
    IF v_node.seen_at < clock_timestamp() - interval '1 s' THEN
        UPDATE nodes SET seen_at = clock_timestamp() WHERE id = v_job.node_id;
    END IF;
    v_done := is_covered(v_job);
    IF p_ending = 'fail' AND NOT v_done THEN
        PERFORM fail_job(p_job, p_kind, p_reason);
        RETURN true;
    END IF;
    UPDATE jobs
    SET state = CASE WHEN v_done THEN 'done' ELSE 'queued' END, node_id = CASE WHEN v_done THEN node_id END,
        session_id = NULL, token = NULL, lease_until = NULL, offered_at = NULL
    WHERE id = p_job;
    IF v_done AND v_node.strikes > 0 THEN
        UPDATE nodes SET strikes = 0, struck_job_id = NULL WHERE id = v_job.node_id;
    END IF;
    RETURN true;
END $$;

CREATE FUNCTION release_node(p_name text, p_session uuid) RETURNS bigint[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_jobs bigint[];
    v_job bigint;
BEGIN
    PERFORM refuse_other_node(p_name);
    SELECT coalesce(array_agg(j.id), '{}') INTO v_jobs
    FROM jobs AS j JOIN nodes AS n ON n.id = j.node_id JOIN sessions AS s ON s.id = j.session_id
    WHERE n.name = p_name AND j.state = 'leased' AND s.key <> p_session;
    FOREACH v_job IN ARRAY v_jobs LOOP
        PERFORM fail_job(v_job, 'lost', format('the agent on %s died during the job', p_name));
    END LOOP;
    RETURN v_jobs;
END $$;
