-- Who may do a job, and who is to have it.

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
