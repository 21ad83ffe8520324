-- Who has which share of a campaign where jobs are dealt to nodes, evenly (balanced) or in proportion to what they do
-- in a time (by_rate), and what becomes of a lost node's share.

CREATE FUNCTION is_dealt(p_placement text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p_placement IN ('balanced', 'by_rate');
$$;

-- A node has a share from when it first has a place free. It keeps it while it is away, until it is lost (`give_away`).
CREATE FUNCTION take_in(p_campaign campaigns, p_places integer[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO campaign_nodes AS m (campaign_id, node_id)
    SELECT p_campaign.id, n.id FROM nodes AS n
    WHERE n.id IN (SELECT unnest(p_places)) AND has_engine(n, p_campaign.engine) AND n.id NOT IN (
        SELECT k.node_id FROM campaign_nodes AS k WHERE k.campaign_id = p_campaign.id AND k.lost_at IS NULL)
    ON CONFLICT (campaign_id, node_id) DO UPDATE SET lost_at = NULL;
    IF FOUND THEN  -- who has come takes a share of what was dealt to others: all of it is dealt again
        UPDATE jobs AS j SET pinned_node_id = NULL
        FROM campaign_nodes AS m
        WHERE m.campaign_id = p_campaign.id AND j.pinned_node_id = m.node_id
          AND j.campaign_id = p_campaign.id AND j.state = 'queued';
    END IF;
END $$;

-- A node that is taken out of work gives its share back: it is draining, quarantined, or has lost the engine.
CREATE FUNCTION take_out() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_campaign campaigns;
    v_others integer[];
BEGIN
    FOR v_campaign IN SELECT * FROM campaigns AS c WHERE c.state = 'running' AND is_dealt(c.placement) LOOP
        DELETE FROM campaign_nodes AS m USING nodes AS n
        WHERE m.campaign_id = v_campaign.id AND m.lost_at IS NULL AND n.id = m.node_id
          AND NOT (n.state = 'ready' AND has_engine(n, v_campaign.engine));
        v_others := ARRAY(SELECT n.id FROM nodes AS n WHERE n.id NOT IN (
            SELECT k.node_id FROM campaign_nodes AS k WHERE k.campaign_id = v_campaign.id AND k.lost_at IS NULL));
        UPDATE jobs AS j SET pinned_node_id = NULL
        WHERE cardinality(v_others) > 0 AND j.pinned_node_id = ANY (v_others)
          AND j.campaign_id = v_campaign.id AND j.state = 'queued';
    END LOOP;
END $$;

-- Jobs of the setting that a node has had, has in hand, or has been dealt.
CREATE FUNCTION jobs_by_node(p_setting integer) RETURNS TABLE (node_id integer, jobs bigint) LANGUAGE sql STABLE AS $$
    SELECT k.node_id, count(*) FROM (
        SELECT CASE WHEN j.state = 'queued' THEN j.pinned_node_id ELSE j.node_id END AS node_id
        FROM jobs AS j WHERE j.setting_id = p_setting AND j.state IN ('queued', 'offered', 'leased', 'done')
    ) AS k WHERE k.node_id IS NOT NULL GROUP BY k.node_id;
$$;

-- Those of `p_nodes` that have the fewest jobs of the setting.
CREATE FUNCTION fewest(p_setting integer, p_nodes integer[]) RETURNS integer[] LANGUAGE sql STABLE AS $$
    WITH counts AS (
        SELECT n.node_id, coalesce(k.jobs, 0) AS jobs
        FROM unnest(p_nodes) AS n (node_id) LEFT JOIN jobs_by_node(p_setting) AS k ON k.node_id = n.node_id
    )
    SELECT coalesce(array_agg(node_id), '{}') FROM counts WHERE jobs = (SELECT min(jobs) FROM counts);
$$;

-- The one of `p_nodes` whose turn it is by rate: node n has its turns at (k + u) / rate, k = 0, 1, ..., with u drawn for
-- each setting and node, so that over many settings its share is its rate's. Of whom no rate is known is the fastest.
CREATE FUNCTION next_by_rate(p_setting integer, p_nodes integer[], p_rates jsonb) RETURNS integer[]
LANGUAGE sql STABLE AS $$
    SELECT ARRAY(
        SELECT n.node_id FROM unnest(p_nodes) AS n (node_id) LEFT JOIN jobs_by_node(p_setting) AS k ON k.node_id = n.node_id
        ORDER BY (coalesce(k.jobs, 0) + (hashint8extended(p_setting::bigint, n.node_id::bigint) & 65535) / 65536.0)
                 / coalesce((p_rates ->> n.node_id::text)::double precision, 1), n.node_id LIMIT 1);
$$;

-- What nodes do in a time, as shares of what the fastest does: {node: rate}.
CREATE FUNCTION known_rates(p_campaign integer) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_object_agg(k.node_id, k.runs_per_s / k.fastest), '{}') FROM (
        SELECT node_id, runs_per_s, max(runs_per_s) OVER () AS fastest FROM node_rates
        WHERE campaign_id = p_campaign AND runs_per_s > 0) AS k;
$$;

-- The first place whose node is (or, with p_in = false, is not) among these; NULL: none.
CREATE FUNCTION first_place(p_places integer[], p_nodes integer[], p_in boolean) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    FOR i IN 1..cardinality(p_places) LOOP
        IF (p_places[i] = ANY (p_nodes)) = p_in THEN
            RETURN i;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- Deal jobs in their order, each to a node that has the fewest of its setting, or whose turn it is by rate. Evenly, no node is ever more than one job
-- ahead of another, and one that is quick goes on until all of its share is done. Whoever has a place comes first, and
-- is offered the job; what falls to others becomes theirs, and waits for them. Each job is looked at once.
CREATE FUNCTION deal(p_campaign campaigns, p_places integer[]) RETURNS TABLE (job_id bigint, node_id integer)
LANGUAGE plpgsql AS $$
DECLARE
    c_at_most CONSTANT integer := 2000;  -- dealt to others in one pass: a pass ends soon
    v_members integer[] := ARRAY(
        SELECT m.node_id FROM campaign_nodes AS m WHERE m.campaign_id = p_campaign.id AND m.lost_at IS NULL
        ORDER BY m.node_id);
    v_places integer[] := ARRAY(
        SELECT p.id FROM unnest(p_places) WITH ORDINALITY AS p (id, place)
        WHERE p.id IN (SELECT unnest(v_members)) ORDER BY p.place);
    v_by_rate CONSTANT boolean := p_campaign.placement = 'by_rate';
    v_rates jsonb := CASE WHEN p_campaign.placement = 'by_rate' THEN known_rates(p_campaign.id) END;
    v_job record;
    v_position integer := -1;
    v_last integer;
    v_fewest integer[];
    v_settings integer[] := '{}';  -- of the jobs below, which are not written yet
    v_offered bigint[] := '{}';
    v_takers integer[] := '{}';
    v_dealt bigint[] := '{}';
    v_owners integer[] := '{}';
    v_others integer := 0;
    v_place integer;
BEGIN
    <<dealing>>
    WHILE cardinality(v_places) > 0 AND v_others < c_at_most LOOP
        v_last := v_position;
        FOR v_job IN  -- a few at a time, or the planner would rather sort them all
            SELECT j.id, j.setting_id, j.position, j.failures, j AS whole FROM jobs AS j
            WHERE j.campaign_id = p_campaign.id AND j.state = 'queued' AND j.pinned_node_id IS NULL
              AND j.position > v_last
            ORDER BY j.position LIMIT 50 FOR UPDATE SKIP LOCKED
        LOOP
            EXIT dealing WHEN cardinality(v_places) = 0;
            v_position := v_job.position;
            IF v_job.setting_id = ANY (v_settings) THEN
                PERFORM offer(v_offered, v_takers, true), give(v_dealt, v_owners);
                v_settings := '{}'; v_offered := '{}'; v_takers := '{}'; v_dealt := '{}'; v_owners := '{}';
            END IF;
            -- A node with none of the setting has the fewest, however many the others have.
            v_place := CASE WHEN v_job.failures = 0 AND NOT v_by_rate THEN first_place(
                v_places, ARRAY(SELECT k.node_id FROM jobs_by_node(v_job.setting_id) AS k), false) END;
            IF v_place IS NULL THEN
                v_fewest := CASE WHEN v_job.failures = 0 THEN v_members ELSE ARRAY(
                    SELECT c FROM chosen_nodes(v_job.whole) AS c WHERE c = ANY (v_members)) END;
                v_fewest := CASE WHEN v_by_rate THEN next_by_rate(v_job.setting_id, v_fewest, v_rates)
                                 ELSE fewest(v_job.setting_id, v_fewest) END;
                CONTINUE WHEN cardinality(v_fewest) = 0;
                v_place := first_place(v_places, v_fewest, true);
            END IF;
            v_settings := v_settings || v_job.setting_id;
            IF v_place IS NOT NULL THEN
                job_id := v_job.id;
                node_id := v_places[v_place];
                v_offered := v_offered || job_id;
                v_takers := v_takers || node_id;
                v_places := v_places[:v_place - 1] || v_places[v_place + 1:];
                RETURN NEXT;
            ELSE
                v_dealt := v_dealt || v_job.id;
                v_owners := v_owners || v_fewest[1 + v_job.position % cardinality(v_fewest)];
                v_others := v_others + 1;
            END IF;
        END LOOP;
        EXIT WHEN v_position = v_last;
    END LOOP;
    PERFORM offer(v_offered, v_takers, true), give(v_dealt, v_owners);
END $$;

-- Make jobs[i] the share of nodes[i].
CREATE FUNCTION give(p_jobs bigint[], p_nodes integer[]) RETURNS void LANGUAGE sql AS $$
    UPDATE jobs AS j SET pinned_node_id = o.node_id
    FROM unnest(p_jobs, p_nodes) AS o (job_id, node_id) WHERE j.id = o.job_id AND j.state = 'queued';
$$;

-- Since when is a node away? The reconciler's own absence does not count.
CREATE FUNCTION note_absences(p_gap interval) RETURNS void LANGUAGE sql AS $$
    UPDATE nodes AS n
    SET offline_since = CASE WHEN s.online THEN NULL ELSE coalesce(n.offline_since + p_gap, clock_timestamp()) END
    FROM node_status AS s
    WHERE s.id = n.id AND n.seen_at IS NOT NULL
      AND (s.online = (n.offline_since IS NOT NULL) OR NOT s.online AND p_gap > interval '0');
$$;

-- A node that is offline for fifteen minutes is lost: the others get its share, unless the study says to wait for it.
CREATE FUNCTION give_away() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_lost record;
    v_jobs integer;
BEGIN
    FOR v_lost IN
        SELECT m.campaign_id, m.node_id, m.lost_at, n.name, c.placement
        FROM nodes AS n JOIN campaign_nodes AS m ON m.node_id = n.id JOIN campaigns AS c ON c.id = m.campaign_id
        WHERE n.offline_since < clock_timestamp() - interval '15 min' AND n.state <> 'quarantined'
          AND c.state = 'running' AND c.on_lost_node = 'reassign'
          AND c.created_at < clock_timestamp() - interval '15 min'
          AND (is_dealt(c.placement) AND m.lost_at IS NULL
               OR (c.placement = 'pinned' OR c.placement = 'lockstep' AND m.lost_at IS NULL) AND EXISTS (
               SELECT FROM jobs AS j WHERE j.pinned_node_id = n.id AND j.campaign_id = c.id AND j.state = 'queued'))
        ORDER BY m.campaign_id, m.node_id
    LOOP
        v_jobs := CASE v_lost.placement WHEN 'pinned' THEN pin_anew(v_lost.campaign_id, v_lost.node_id)
                       WHEN 'lockstep' THEN 0  -- its jobs stay its own, for when it is back
                       ELSE let_go(v_lost.campaign_id, v_lost.node_id) END;
        CONTINUE WHEN v_jobs IS NULL;  -- there is nobody to have them
        UPDATE campaign_nodes SET lost_at = clock_timestamp()
        WHERE campaign_id = v_lost.campaign_id AND node_id = v_lost.node_id;
        PERFORM tell('node_lost', format('node %s is offline for 15 min: %s', v_lost.name,
            CASE v_lost.placement WHEN 'lockstep' THEN 'the rounds go on without it' ELSE 'the others do its share' END),
            v_lost.campaign_id, v_lost.node_id);
    END LOOP;
END $$;

-- What was dealt to the node is dealt again. How many jobs; NULL when nobody else has a share.
CREATE FUNCTION let_go(p_campaign integer, p_node integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_jobs integer;
BEGIN
    IF NOT EXISTS (SELECT FROM campaign_nodes
                   WHERE campaign_id = p_campaign AND node_id <> p_node AND lost_at IS NULL) THEN
        RETURN NULL;
    END IF;
    UPDATE jobs SET pinned_node_id = NULL
    WHERE pinned_node_id = p_node AND campaign_id = p_campaign AND state = 'queued';
    GET DIAGNOSTICS v_jobs = ROW_COUNT;
    RETURN v_jobs;
END $$;

-- What was pinned to the node goes to others of the campaign that are at work, setting by setting.
-- How many jobs; NULL when there is no other.
CREATE FUNCTION pin_anew(p_campaign integer, p_node integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_jobs integer;
    v_others integer[] := ARRAY(
        SELECT s.id FROM campaign_nodes AS m JOIN node_status AS s ON s.id = m.node_id
            JOIN campaigns AS c ON c.id = m.campaign_id
        WHERE m.campaign_id = p_campaign AND s.id <> p_node AND s.online AND s.state = 'ready'
          AND (c.engine = 'replay' OR s.engines ? c.engine)
        ORDER BY s.id);
BEGIN
    IF cardinality(v_others) = 0 THEN
        RETURN NULL;
    END IF;
    UPDATE jobs AS j SET pinned_node_id = v_others[1 + o.place % cardinality(v_others)]
    FROM (
        SELECT id, dense_rank() OVER (ORDER BY setting_id) AS place FROM jobs
        WHERE pinned_node_id = p_node AND campaign_id = p_campaign AND state = 'queued'
    ) AS o WHERE j.id = o.id;
    GET DIAGNOSTICS v_jobs = ROW_COUNT;
    RETURN v_jobs;
END $$;
