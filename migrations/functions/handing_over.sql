-- A job's last runs and the job itself come home, and the next one that is offered is taken: one call, no message.

-- Whoever gives a job back, and whoever asks whether a node is at work, go one after the other (see `unengaged`).
CREATE FUNCTION lock_work_of(p_node integer) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(1836016755, p_node);
$$;

-- Lease the job that was offered to this session's node first; NULL when nothing is. Whoever cancels holds jobs, and
-- waits for the one that comes home in this transaction: no waiting for those.
CREATE FUNCTION claim_next(p_session uuid) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_job bigint;
BEGIN
    SELECT j.id INTO v_job
    FROM sessions AS s
    JOIN jobs AS j ON j.node_id = s.node_id AND j.state = 'offered'
    JOIN campaigns AS c ON c.id = j.campaign_id
    WHERE s.key = p_session AND s.ended_at IS NULL AND c.state = 'running' AND NOT c.paused
    ORDER BY j.offered_at, j.id LIMIT 1 FOR UPDATE OF j SKIP LOCKED;
    RETURN CASE WHEN v_job IS NOT NULL THEN claim(v_job, p_session) END;
END $$;

-- `record`, `finish`, and for the session `p_next` `claim_next`: all of it or nothing.
-- Returns {"outcomes": {run: outcome}, "next": what `claim` returns}.
CREATE FUNCTION hand_over(
    p_campaigns integer[], p_settings integer[], p_jobs bigint[], p_attempts smallint[], p_sessions uuid[],
    p_engines text[], p_versions text[], p_settles real[], p_packed bytea[],
    p_block integer[], p_ids uuid[], p_replicates integer[], p_tries smallint[], p_sequences integer[],
    p_previous integer[], p_started double precision[], p_elapsed real[], p_exits smallint[], p_valid boolean[],
    p_reasons text[], p_values text[],
    p_job bigint, p_token uuid, p_ending text, p_kind text, p_reason text, p_next uuid
) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan  -- of all that is called below: rows by their keys, always planned the same way
AS $$
DECLARE
    v_outcomes jsonb;
    v_next jsonb;
BEGIN
    PERFORM lock_work_of(s.node_id) FROM sessions AS s WHERE s.key = p_next;
    IF cardinality(p_ids) > 0 THEN
        SELECT jsonb_object_agg(r.run_id, r.outcome) INTO v_outcomes
        FROM record(p_campaigns, p_settings, p_jobs, p_attempts, p_sessions, p_engines, p_versions, p_settles, p_packed,
                    p_block, p_ids, p_replicates, p_tries, p_sequences, p_previous, p_started, p_elapsed, p_exits,
                    p_valid, p_reasons, p_values) AS r;
    END IF;
    PERFORM finish(p_job, p_token, p_ending, p_kind, p_reason);
    IF p_next IS NOT NULL THEN
        v_next := claim_next(p_next);
    END IF;
    RETURN jsonb_build_object('outcomes', coalesce(v_outcomes, '{}'), 'next', v_next);
END $$;

-- Of these offered jobs the first of each node that holds none: it has to be told. Whoever holds one takes the next when
-- it gives that back; of one who is doing so at this moment it is not known, and to be asked again. Nobody waits here:
-- the locks we have would make others wait meanwhile, one for the commit of the other.
CREATE FUNCTION unengaged(p_jobs bigint[]) RETURNS TABLE (job_id bigint, node text, is_known boolean)
LANGUAGE plpgsql AS $$
DECLARE
    v_known integer[] := ARRAY(
        SELECT o.node_id FROM (
            SELECT DISTINCT j.node_id FROM jobs AS j WHERE j.id = ANY (p_jobs) AND j.state = 'offered' OFFSET 0) AS o
        WHERE pg_try_advisory_xact_lock(1836016755, o.node_id));
BEGIN
    RETURN QUERY
        SELECT j.id, n.name, n.id = ANY (v_known) FROM jobs AS j JOIN nodes AS n ON n.id = j.node_id
        WHERE j.id = ANY (p_jobs) AND j.state = 'offered' AND NOT (n.id = ANY (v_known) AND EXISTS (
            SELECT FROM jobs AS h WHERE h.node_id = j.node_id AND (h.state = 'leased'
              OR h.state = 'offered' AND (h.offered_at, h.id) < (j.offered_at, j.id))))
        ORDER BY j.id;
END $$;
