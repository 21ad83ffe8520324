-- Who may do what below the API. `modescope rights` makes the roles; where there are none, the owner does everything.
-- What agents call runs as the owner (SECURITY DEFINER), with a search path that nobody else can change.

-- Refuse an agent that speaks for another node: it logs in as `modescope_node_` and the name of its own. Whoever is
-- the owner of the ledger, or may become it, speaks for any.
CREATE FUNCTION refuse_other_node(p_node text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF session_user <> 'modescope_node_' || p_node AND NOT pg_has_role(session_user, current_user, 'MEMBER') THEN
        RAISE EXCEPTION 'role % does not speak for node %', session_user, p_node
            USING ERRCODE = 'insufficient_privilege';
    END IF;
END $$;

-- The same, of sessions; one that is not known is nobody's.
CREATE FUNCTION refuse_other_sessions(p_sessions uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF pg_has_role(session_user, current_user, 'MEMBER') THEN
        RETURN;
    END IF;
    PERFORM refuse_other_node(n.name)
    FROM sessions AS s JOIN nodes AS n ON n.id = s.node_id WHERE s.key = ANY (p_sessions);
END $$;

-- Give the three roles their rights, and nobody else any. Called whenever schema or functions were made anew.
CREATE FUNCTION grant_rights() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF to_regrole('modescope_api') IS NULL OR to_regrole('modescope_agent') IS NULL
        OR to_regrole('modescope_analysis') IS NULL THEN
        RETURN;
    END IF;
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO modescope_api, modescope_agent, modescope_analysis',
        current_database());
    REVOKE ALL ON SCHEMA public FROM PUBLIC;
    GRANT USAGE ON SCHEMA public TO modescope_api, modescope_agent, modescope_analysis;
    REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, modescope_api, modescope_agent, modescope_analysis;
    REVOKE ALL ON ALL ROUTINES IN SCHEMA public FROM PUBLIC, modescope_api, modescope_agent, modescope_analysis;

    -- Which ledger and which schema this is, everybody asks first.
    GRANT SELECT ON ledger, alembic_version TO modescope_api, modescope_agent, modescope_analysis;

    -- API and controller: all rows and no table. What is audited stays so.
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO modescope_api;
    REVOKE UPDATE, DELETE ON audit FROM modescope_api;
    REVOKE INSERT, UPDATE, DELETE ON alembic_version FROM modescope_api;
    REVOKE INSERT, DELETE ON ledger FROM modescope_api;
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO modescope_api;
    GRANT EXECUTE ON ALL ROUTINES IN SCHEMA public TO modescope_api;
    IF current_setting('server_version_num')::integer >= 170000 THEN  -- ANALYZE after a large study is submitted
        EXECUTE 'GRANT MAINTAIN ON settings, jobs TO modescope_api';
    END IF;

    -- Agents: these functions, each of which asks whose node it is.
    GRANT EXECUTE ON ROUTINE hello, goodbye, claim, renew, line_up, record, finish, hand_over, release_node TO modescope_agent;

    -- Analysis workers: what samples are made of, and what came of them; not which sample it was. How a campaign that
    -- grows goes on, they decide through a function that asks whether there is anything to decide.
    GRANT SELECT ON campaigns, settings, runs, analyses, rounds TO modescope_analysis;
    GRANT EXECUTE ON ROUTINE rounds_due, decide_round TO modescope_analysis;
    GRANT SELECT, INSERT, UPDATE, DELETE ON repeated_flags TO modescope_analysis;
    EXECUTE (
        SELECT format('GRANT UPDATE (%s) ON analyses TO modescope_analysis', string_agg(quote_ident(attname), ', '))
        FROM pg_attribute WHERE attrelid = 'analyses'::regclass AND attnum > 0 AND NOT attisdropped
            AND attname NOT IN ('id', 'campaign_id', 'setting_id', 'mode', 'digest', 'current'));
END $$;
