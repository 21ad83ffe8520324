-- Who may do a job, and who is to have it.

CREATE FUNCTION has_engine(p_node nodes, p_engine text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p_engine = 'replay' OR p_node.engines ? p_engine;
$$;

-- Nodes at work that the job is not kept from by pin or engine.
CREATE FUNCTION able_nodes(p_job jobs) RETURNS SETOF integer LANGUAGE sql STABLE AS $$
    SELECT n.id
    FROM campaigns AS c, settings AS t, node_status AS n
    WHERE c.id = p_job.campaign_id AND t.id = p_job.setting_id AND n.online AND n.state = 'ready'
      AND (c.placement NOT IN ('pinned', 'lockstep') OR p_job.pinned_node_id = n.id)
      AND (t.control IS NOT NULL OR c.engine = 'replay' OR n.engines ? c.engine);
$$;

-- Does the attempt count against its job? It failed by nobody else's fault, and no valid run came of it, early or late.
CREATE FUNCTION is_fruitless(p_failure job_failures) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_failure.kind IN ('engine', 'lost') AND NOT EXISTS (
        SELECT FROM jobs AS j JOIN runs AS r ON r.setting_id = j.setting_id AND r.validity = 'valid'
            AND r.replicate >= j.first_replicate AND r.replicate < j.first_replicate + j.replicates
        WHERE j.id = p_failure.job_id AND r.job_id = j.id AND r.attempt = p_failure.attempt);
$$;

-- Of the able ones, those that are to have it: where it has not failed yet, or else where it may be tried again.
CREATE FUNCTION chosen_nodes(p_job jobs) RETURNS SETOF integer LANGUAGE sql STABLE AS $$
    WITH failures AS (
        SELECT f.node_id, bool_or(f.kind = 'study') AS refused, bool_or(f.kind = 'node' OR is_fruitless(f)) AS failed
        FROM job_failures AS f WHERE f.job_id = p_job.id GROUP BY f.node_id
    ), willing AS (
        SELECT a.id, coalesce(f.failed, false) AS failed
        FROM able_nodes(p_job) AS a (id) LEFT JOIN failures AS f ON f.node_id = a.id
        WHERE NOT coalesce(f.refused, false)
    )
    SELECT id FROM willing WHERE NOT failed OR NOT EXISTS (SELECT FROM willing WHERE NOT failed);
$$;

-- Has it failed too often (DESIGN 4)? Two nodes cannot do what the study asks, or three attempts on two nodes
-- were in vain; where there is no second node, the one is enough.
CREATE FUNCTION is_hopeless(p_job jobs) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT refusing >= 2 OR vain >= 3 AND vain_nodes >= 2
        OR (refusing >= 1 OR vain >= 3) AND (SELECT count(*) FROM able_nodes(p_job)) < 2
    FROM (
        SELECT count(DISTINCT f.node_id) FILTER (WHERE f.kind = 'study') AS refusing,
               count(*) FILTER (WHERE is_fruitless(f)) AS vain,
               count(DISTINCT f.node_id) FILTER (WHERE is_fruitless(f)) AS vain_nodes
        FROM job_failures AS f WHERE f.job_id = p_job.id
    ) AS failures;
$$;
