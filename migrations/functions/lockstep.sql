-- Rounds: jobs of one number, one on each node, that begin together (placement `lockstep`, docs/decisions/0013).

-- The nodes that rounds of a campaign wait for: not those that an operator or the ledger has taken out of work, nor
-- those that are lost. One that has never been heard of is on its way.
CREATE FUNCTION awaited(p_campaign campaigns) RETURNS integer[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(n.id ORDER BY n.id), '{}')
    FROM campaign_nodes AS m JOIN nodes AS n ON n.id = m.node_id
    WHERE m.campaign_id = p_campaign.id AND m.lost_at IS NULL AND n.state = 'ready'
      AND (n.seen_at IS NULL OR has_engine(n, p_campaign.engine));
$$;

-- The round to begin next; one of which a single job is left cannot begin any more, and that job is left over.
CREATE FUNCTION next_round(p_campaign integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_round integer;
BEGIN
    LOOP
        SELECT j.round INTO v_round FROM jobs AS j
        WHERE j.campaign_id = p_campaign AND j.state = 'queued' AND NOT j.round_begun ORDER BY j.round LIMIT 1;
        EXIT WHEN NOT FOUND OR 2 <= (
            SELECT count(*) FROM jobs AS j WHERE j.campaign_id = p_campaign AND j.round = v_round
                AND j.state IN ('queued', 'offered', 'leased') AND NOT j.round_begun);
        UPDATE jobs SET round_begun = true WHERE campaign_id = p_campaign AND round = v_round AND NOT round_begun;
    END LOOP;
    RETURN v_round;
END $$;

-- All of the next round, when every awaited node of it has nothing else in hand, and at least two are there. What is
-- left over of rounds that have begun comes after the last of them.
CREATE FUNCTION jobs_in_lockstep(p_campaign campaigns, p_places integer[])
RETURNS TABLE (job_id bigint, node_id integer) LANGUAGE plpgsql AS $$
DECLARE
    v_awaited integer[];
    v_free integer[] := ARRAY(
        SELECT DISTINCT p.id FROM unnest(p_places) AS p (id) WHERE NOT EXISTS (
            SELECT FROM jobs AS j WHERE j.node_id = p.id AND j.state IN ('offered', 'leased')));
    v_round integer := next_round(p_campaign.id);
BEGIN
    UPDATE campaign_nodes AS m SET lost_at = NULL FROM node_status AS n
    WHERE m.campaign_id = p_campaign.id AND m.lost_at IS NOT NULL AND n.id = m.node_id AND n.online;
    IF v_round IS NULL THEN
        RETURN QUERY SELECT * FROM own_jobs(p_campaign, v_free);
        RETURN;
    END IF;
    v_awaited := awaited(p_campaign);
    RETURN QUERY
        WITH waiting AS (
            SELECT j.id, j.pinned_node_id FROM jobs AS j
            WHERE j.campaign_id = p_campaign.id AND j.round = v_round AND j.state = 'queued' AND NOT j.round_begun
              AND j.pinned_node_id = ANY (v_awaited)
        ), locked AS (  -- whoever holds one of them changes it: another pass will see
            SELECT j.id FROM jobs AS j WHERE j.id IN (SELECT w.id FROM waiting AS w) FOR UPDATE SKIP LOCKED
        )
        SELECT w.id, w.pinned_node_id FROM waiting AS w
        WHERE (SELECT bool_and(o.pinned_node_id = ANY (v_free)) FROM waiting AS o)
          AND (SELECT count(*) FROM locked) = (SELECT count(*) FROM waiting)
          AND (SELECT count(*) FROM waiting) + (
              SELECT count(*) FROM jobs AS h WHERE h.campaign_id = p_campaign.id AND h.round = v_round
                  AND h.state IN ('offered', 'leased') AND NOT h.round_begun) >= 2;
END $$;

-- Places that later campaigns may have: none of those who are to begin the next round as soon as all of them are free.
CREATE FUNCTION beside_rounds(p_campaign campaigns, p_places integer[]) RETURNS integer[] LANGUAGE plpgsql AS $$
DECLARE
    v_awaited integer[] := awaited(p_campaign);
BEGIN
    IF cardinality(v_awaited) < 2 OR next_round(p_campaign.id) IS NULL
        OR EXISTS (SELECT FROM node_status AS n WHERE n.id = ANY (v_awaited) AND NOT n.online) THEN
        RETURN p_places;
    END IF;
    RETURN ARRAY(SELECT p.id FROM unnest(p_places) WITH ORDINALITY AS p (id, place)
                 WHERE p.id <> ALL (v_awaited) ORDER BY p.place);
END $$;

-- A holder has prepared its node: when does its round begin? When nobody who has a job of it in hand is still on the
-- way, or the first who was ready has waited for long enough, all who are ready are given one instant.
CREATE FUNCTION line_up(p_job bigint, p_token uuid) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_campaign campaigns;
    v_answer jsonb;
    v_job jobs;
    v_members integer;
    v_on_the_way integer;
    v_first timestamptz;
    v_again_s double precision;
    v_start timestamptz;
BEGIN
    SELECT c.* INTO v_campaign FROM campaigns AS c  -- one after the other, also with whoever cancels
    WHERE c.id = (SELECT j.campaign_id FROM jobs AS j WHERE j.id = p_job) FOR NO KEY UPDATE;
    v_answer := renew(p_job, p_token);
    IF NOT (v_answer ->> 'granted')::boolean OR v_answer ->> 'stop' IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    UPDATE jobs SET ready_at = coalesce(ready_at, clock_timestamp()) WHERE id = p_job RETURNING * INTO v_job;
    SELECT count(*), count(*) FILTER (WHERE j.state = 'offered' OR j.state = 'leased' AND j.ready_at IS NULL),
           min(j.ready_at) FILTER (WHERE j.state = 'leased' AND j.start_at IS NULL)
    INTO v_members, v_on_the_way, v_first
    FROM jobs AS j WHERE j.campaign_id = v_job.campaign_id AND j.round = v_job.round;
    v_again_s := greatest(0.05, 0.002 * v_members);
    IF v_job.start_at IS NULL AND (v_on_the_way = 0 OR v_first < clock_timestamp() - make_interval(
            secs => coalesce((v_campaign.study #>> '{placement,wait_s}')::double precision, 60))) THEN
        v_start := clock_timestamp() + make_interval(secs => 0.1 + 2 * v_again_s);
        UPDATE jobs AS j
        SET round_begun = true,
            start_at = CASE WHEN j.state = 'leased' AND j.ready_at IS NOT NULL AND j.start_at IS NULL
                            THEN v_start ELSE j.start_at END
        FROM (SELECT k.id FROM jobs AS k WHERE k.campaign_id = v_job.campaign_id AND k.round = v_job.round
              ORDER BY k.id FOR UPDATE SKIP LOCKED) AS r
        WHERE j.id = r.id;
        SELECT * INTO v_job FROM jobs WHERE id = p_job;
    END IF;
    RETURN v_answer || jsonb_build_object(
        'start_at', extract(epoch FROM v_job.start_at), 'again_s', v_again_s,
        'database_time', extract(epoch FROM clock_timestamp()));
END $$;

-- A node that is away for fifteen minutes is lost: rounds go on without it until it is back. How many jobs it has left.
CREATE FUNCTION leave_behind(p_campaign integer, p_node integer) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT count(*)::integer FROM jobs
    WHERE pinned_node_id = p_node AND campaign_id = p_campaign AND state = 'queued';
$$;

-- When nothing is left but jobs of nodes that are lost or quarantined, nobody will do them.
CREATE FUNCTION give_up_rounds() RETURNS void LANGUAGE sql AS $$
    WITH gone AS (
        SELECT m.campaign_id, n.id, CASE WHEN n.state = 'quarantined'
            THEN format('no node left: %s is quarantined (%s)', n.name, n.reason)
            ELSE format('node %s was lost: the rounds went on without it', n.name) END AS reason
        FROM campaigns AS c JOIN campaign_nodes AS m ON m.campaign_id = c.id JOIN node_status AS n ON n.id = m.node_id
        WHERE c.placement = 'lockstep' AND c.state = 'running'
          AND (n.state = 'quarantined' OR m.lost_at IS NOT NULL AND NOT n.online)
    )
    UPDATE jobs AS j SET state = 'set_aside', reason = g.reason
    FROM gone AS g
    WHERE j.campaign_id = g.campaign_id AND j.pinned_node_id = g.id AND j.state = 'queued' AND NOT EXISTS (
        SELECT FROM jobs AS h WHERE h.campaign_id = g.campaign_id AND h.state IN ('queued', 'offered', 'leased')
            AND NOT (h.state = 'queued' AND h.pinned_node_id IN (
                SELECT o.id FROM gone AS o WHERE o.campaign_id = g.campaign_id)));
$$;

-- Keep that rounds wait for a node again and again, or do so no more; true, and an event, when that is news.
CREATE FUNCTION keep_critical(
    p_campaign integer, p_node text, p_named boolean, p_since double precision, p_rounds integer, p_critical integer,
    p_chance double precision, p_differs text, p_message text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_node integer := (SELECT id FROM nodes WHERE name = p_node FOR NO KEY UPDATE);  -- two controllers, one after the other
    v_new boolean := p_named IS DISTINCT FROM coalesce((
        SELECT k.named FROM critical_nodes AS k WHERE k.campaign_id = p_campaign AND k.node_id = v_node), false);
BEGIN
    INSERT INTO critical_nodes (campaign_id, node_id, named, since, rounds, critical, chance, differs)
    VALUES (p_campaign, v_node, p_named, to_timestamp(p_since), p_rounds, p_critical, p_chance, p_differs)
    ON CONFLICT (campaign_id, node_id) DO UPDATE
    SET named = EXCLUDED.named, since = EXCLUDED.since, rounds = EXCLUDED.rounds, critical = EXCLUDED.critical,
        chance = EXCLUDED.chance, differs = EXCLUDED.differs;
    IF v_new THEN
        UPDATE critical_nodes SET told_at = clock_timestamp() WHERE campaign_id = p_campaign AND node_id = v_node;
        PERFORM tell('node_critical', p_message, p_campaign, v_node);
    END IF;
    RETURN v_new;
END $$;
