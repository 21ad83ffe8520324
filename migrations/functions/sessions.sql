-- A node's agent comes, goes, and is seen.

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
    p_name text, p_session uuid, p_boot text, p_version text, p_engines jsonb, p_facts jsonb, p_spool_runs integer
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_node integer;
    v_session integer;
BEGIN
    PERFORM refuse_other_node(p_name), refuse_other_sessions(ARRAY[p_session]);
    INSERT INTO nodes (name) VALUES (p_name) ON CONFLICT (name) DO NOTHING;
    SELECT id INTO v_node FROM nodes WHERE name = p_name FOR UPDATE;
    INSERT INTO sessions (key, node_id, boot_id, version) VALUES (p_session, v_node, p_boot, p_version)
        ON CONFLICT (key) DO NOTHING;
    SELECT id INTO v_session FROM sessions WHERE key = p_session AND ended_at IS NULL;
    IF v_session IS NULL THEN
        RETURN;  -- this session has ended: a late word from it changes nothing
    END IF;
    UPDATE sessions SET ended_at = clock_timestamp() WHERE node_id = v_node AND ended_at IS NULL AND id < v_session;
    UPDATE nodes SET session_id = v_session, seen_at = clock_timestamp(), engines = p_engines, facts = p_facts,
            spool_runs = p_spool_runs
        WHERE id = v_node AND coalesce(session_id, 0) <= v_session;
    PERFORM pg_notify('modescope', 'nodes');
END $$;

CREATE FUNCTION goodbye(p_session uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_session sessions;
BEGIN
    PERFORM refuse_other_sessions(ARRAY[p_session]);
    UPDATE sessions SET ended_at = clock_timestamp() WHERE key = p_session AND ended_at IS NULL RETURNING * INTO v_session;
    UPDATE nodes SET session_id = NULL WHERE id = v_session.node_id AND session_id = v_session.id;
    UPDATE jobs SET state = 'queued', node_id = NULL, offered_at = NULL
        WHERE node_id = v_session.node_id AND state = 'offered'
          AND NOT EXISTS (SELECT FROM nodes WHERE id = v_session.node_id AND session_id IS NOT NULL);
END $$;
