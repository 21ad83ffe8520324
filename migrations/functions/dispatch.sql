-- Which job goes to which node next: one call a pass, and no work where there is nothing to hand out.

-- A node's id for every job it may still have, in rounds, so that a short queue spreads over the nodes.
CREATE FUNCTION free_places(p_outstanding integer) RETURNS integer[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(n.id ORDER BY place, n.id), '{}')
    FROM node_status AS n
    LEFT JOIN (
        SELECT node_id, count(*)::integer AS jobs FROM jobs WHERE state IN ('offered', 'leased') GROUP BY node_id
    ) AS held ON held.node_id = n.id
    CROSS JOIN LATERAL generate_series(coalesce(held.jobs, 0) + 1, p_outstanding) AS place
    WHERE n.online AND n.state = 'ready';
$$;

-- What is left of these places when each node has taken one for every time it is named.
CREATE FUNCTION places_left(p_places integer[], p_taken integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(p.node_id ORDER BY p.place), '{}')
    FROM (
        SELECT node_id, place, row_number() OVER (PARTITION BY node_id ORDER BY place) AS nth
        FROM unnest(p_places) WITH ORDINALITY AS u (node_id, place)
    ) AS p
    LEFT JOIN (SELECT node_id, count(*) AS places FROM unnest(p_taken) AS u (node_id) GROUP BY node_id) AS t
        ON t.node_id = p.node_id
    WHERE p.nth > coalesce(t.places, 0);
$$;

-- Offer jobs[i] to nodes[i], and where jobs are dealt write down whose share that is.
CREATE FUNCTION offer(p_jobs bigint[], p_nodes integer[], p_dealt boolean) RETURNS void LANGUAGE sql AS $$
    UPDATE jobs AS j
    SET state = 'offered', node_id = o.node_id, offered_at = statement_timestamp(),
        pinned_node_id = CASE WHEN p_dealt THEN o.node_id ELSE j.pinned_node_id END
    FROM unnest(p_jobs, p_nodes) AS o (job_id, node_id)
    WHERE j.id = o.job_id AND j.state = 'queued';
$$;

-- For each place a job that is this node's own: pinned to it by the study, or dealt to it.
CREATE FUNCTION own_jobs(p_campaign campaigns, p_places integer[]) RETURNS TABLE (job_id bigint, node_id integer)
LANGUAGE sql AS $$
    SELECT q.id, p.node_id
    FROM (
        SELECT n.id AS node_id, has_engine(n, p_campaign.engine) AS able, u.places
        FROM (SELECT node_id, count(*) AS places FROM unnest(p_places) AS u (node_id) GROUP BY node_id) AS u
        JOIN nodes AS n ON n.id = u.node_id
    ) AS p
    CROSS JOIN LATERAL (
        SELECT o.id FROM jobs AS o
        WHERE o.pinned_node_id = p.node_id AND o.campaign_id = p_campaign.id AND o.state = 'queued'
          AND (p.able OR EXISTS (SELECT FROM settings AS t WHERE t.id = o.setting_id AND t.control IS NOT NULL))
          AND (o.failures = 0 OR is_dealt(p_campaign.placement) OR p.node_id IN (SELECT chosen_nodes(o)))
        ORDER BY o.position LIMIT p.places FOR UPDATE SKIP LOCKED
    ) AS q;
$$;

-- For each place the next of the jobs that anybody may have; what has failed goes first, to whom it is to go.
CREATE FUNCTION anybodys_jobs(p_campaign campaigns, p_places integer[]) RETURNS TABLE (job_id bigint, node_id integer)
LANGUAGE plpgsql AS $$
DECLARE
    v_places integer[] := p_places;
    v_job jobs;
    v_node integer;
    v_able integer[];
    v_unable integer[];
BEGIN
    FOR v_job IN
        SELECT * FROM jobs AS j WHERE j.campaign_id = p_campaign.id AND j.state = 'queued' AND j.failures > 0
        ORDER BY j.position LIMIT 100 FOR UPDATE SKIP LOCKED
    LOOP
        SELECT p.node_id INTO v_node FROM unnest(v_places) WITH ORDINALITY AS p (node_id, place)
        WHERE p.node_id IN (SELECT chosen_nodes(v_job)) ORDER BY p.place LIMIT 1;
        IF FOUND THEN
            v_places := places_left(v_places, ARRAY[v_node]);
            RETURN QUERY SELECT v_job.id, v_node;
        END IF;
    END LOOP;
    SELECT array_agg(p.node_id ORDER BY p.place) FILTER (WHERE has_engine(n, p_campaign.engine)),
           array_agg(p.node_id ORDER BY p.place) FILTER (WHERE NOT has_engine(n, p_campaign.engine))
    INTO v_able, v_unable
    FROM unnest(v_places) WITH ORDINALITY AS p (node_id, place) JOIN nodes AS n ON n.id = p.node_id;
    IF v_unable IS NOT NULL AND p_campaign.controls <> '{}' THEN  -- a recording is played anywhere
        RETURN QUERY
            SELECT q.id, v_unable[q.place] FROM (
                SELECT c.id, (row_number() OVER (ORDER BY c.position))::integer AS place FROM (
                    SELECT j.id, j.position FROM jobs AS j JOIN settings AS t ON t.id = j.setting_id
                    WHERE t.campaign_id = p_campaign.id AND t.control IS NOT NULL
                      AND j.state = 'queued' AND j.failures = 0
                    ORDER BY j.position DESC  -- from the far end: the near one is for nodes that can do all
                    LIMIT cardinality(v_unable) FOR UPDATE OF j SKIP LOCKED) AS c
            ) AS q;
    END IF;
    RETURN QUERY
        SELECT q.id, v_able[q.place] FROM (
            SELECT w.id, (row_number() OVER (ORDER BY w.position))::integer AS place FROM (
                SELECT j.id, j.position FROM jobs AS j
                WHERE j.campaign_id = p_campaign.id AND j.state = 'queued' AND j.pinned_node_id IS NULL
                  AND j.failures = 0
                ORDER BY j.position LIMIT coalesce(cardinality(v_able), 0) FOR UPDATE SKIP LOCKED) AS w
        ) AS q;
END $$;

-- One pass: jobs for nodes with fewer than `p_outstanding` in hand; an earlier campaign goes first.
CREATE FUNCTION dispatch(p_outstanding integer) RETURNS TABLE (job_id bigint, node text) LANGUAGE plpgsql AS $$
DECLARE
    v_places integer[] := free_places(p_outstanding);
    v_campaign campaigns;
    v_jobs bigint[];
    v_nodes integer[];
BEGIN
    FOR v_campaign IN
        SELECT c.* FROM campaigns AS c
        WHERE c.state = 'running' AND NOT c.paused AND jobs_in(c.id, 'queued') > 0 ORDER BY c.id
    LOOP
        EXIT WHEN cardinality(v_places) = 0;
        IF is_dealt(v_campaign.placement) THEN
            PERFORM take_in(v_campaign, v_places);
        END IF;
        IF v_campaign.placement = 'any' THEN
            SELECT array_agg(o.job_id), array_agg(o.node_id) INTO v_jobs, v_nodes
            FROM anybodys_jobs(v_campaign, v_places) AS o;
        ELSIF v_campaign.placement = 'lockstep' THEN
            SELECT array_agg(o.job_id), array_agg(o.node_id) INTO v_jobs, v_nodes
            FROM jobs_in_lockstep(v_campaign, v_places) AS o;
        ELSE
            SELECT array_agg(o.job_id), array_agg(o.node_id) INTO v_jobs, v_nodes
            FROM own_jobs(v_campaign, v_places) AS o;
        END IF;
        PERFORM offer(v_jobs, v_nodes, is_dealt(v_campaign.placement));
        RETURN QUERY SELECT o.job_id, n.name
            FROM unnest(v_jobs, v_nodes) AS o (job_id, node_id) JOIN nodes AS n ON n.id = o.node_id;
        v_places := places_left(v_places, v_nodes);
        IF v_campaign.placement = 'lockstep' THEN
            v_places := beside_rounds(v_campaign, v_places);
        END IF;
        IF is_dealt(v_campaign.placement) AND cardinality(v_places) > 0 THEN
            SELECT array_agg(o.job_id), array_agg(o.node_id) INTO v_jobs, v_nodes FROM deal(v_campaign, v_places) AS o;
            RETURN QUERY SELECT o.job_id, n.name
                FROM unnest(v_jobs, v_nodes) AS o (job_id, node_id) JOIN nodes AS n ON n.id = o.node_id;
            v_places := places_left(v_places, v_nodes);
        END IF;
    END LOOP;
END $$;

-- `dispatch` by itself: for whoever gets the controllers' lock, which ends with the call.
CREATE FUNCTION dispatch_alone(p_outstanding integer) RETURNS TABLE (job_id bigint, node text) LANGUAGE plpgsql AS $$
BEGIN
    IF pg_try_advisory_xact_lock(1836016755) THEN
        RETURN QUERY SELECT o.job_id, o.node FROM dispatch(p_outstanding) AS o;
    END IF;
END $$;
