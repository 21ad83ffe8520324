"""The statements behind the controller's decisions, each with its reason."""

from __future__ import annotations

from sqlalchemy import text

TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(1836016755)")
"""One number for all controllers of a ledger."""

ABLE_NODES = text("""
    SELECT n.id, (SELECT count(*) FROM jobs AS j
                  WHERE j.node_id = n.id AND j.state IN ('offered', 'leased')) AS outstanding
    FROM node_status AS n WHERE n.online AND n.state = 'ready'
    ORDER BY outstanding, n.id
""")

OFFER = text("""
    UPDATE jobs AS j SET state = 'offered', node_id = n.id, offered_at = clock_timestamp()
    FROM nodes AS n
    WHERE n.id = :node AND j.id = (
        SELECT q.id
        FROM campaigns AS c
        CROSS JOIN LATERAL (
            SELECT q.id
            FROM jobs AS q
            JOIN settings AS t ON t.id = q.setting_id
            WHERE q.campaign_id = c.id AND q.state = 'queued'
              AND (q.pinned_node_id IS NULL OR q.pinned_node_id = n.id)
              AND (t.control IS NOT NULL OR c.engine = 'replay' OR n.engines ? c.engine)
              -- Where a job has failed, others come first. Asked only of jobs that have: `chosen_nodes` is not cheap.
              AND CASE WHEN EXISTS (SELECT FROM job_failures AS f WHERE f.job_id = q.id)
                       THEN n.id IN (SELECT chosen_nodes(q)) ELSE true END
              -- balanced: of one setting, no node may be more than one job ahead of another
              AND CASE WHEN c.placement = 'balanced' THEN (
                       SELECT count(*) FILTER (WHERE s.node_id = n.id) <= count(s.id) / count(DISTINCT o.id)
                       FROM chosen_nodes(q) AS o (id)
                       LEFT JOIN jobs AS s ON s.setting_id = q.setting_id AND s.node_id = o.id
                           AND s.state IN ('offered', 'leased', 'done'))
                       ELSE true END
            ORDER BY q.position
            LIMIT 1
            FOR UPDATE OF q SKIP LOCKED
        ) AS q
        WHERE c.state = 'running' AND NOT c.paused
        ORDER BY c.id
        LIMIT 1)
    RETURNING j.id AS job_id, n.name AS node
""")

SEND_AGAIN = text("""
    UPDATE jobs AS j SET offered_at = clock_timestamp()
    FROM node_status AS n
    WHERE j.state = 'offered' AND n.id = j.node_id AND n.online AND n.job_id IS NULL
      AND j.offered_at < clock_timestamp() - make_interval(secs => :older_than_s)
    RETURNING j.id AS job_id, n.name AS node
""")

# After a gap of our own (database away, controllers stopped) nobody could renew: every lease gets the gap's length.
GRANT_THE_GAP = text("""
    WITH gap AS (
        UPDATE ledger AS l SET reconciled_at = clock_timestamp()
        FROM (SELECT id, clock_timestamp() - reconciled_at AS length FROM ledger FOR UPDATE) AS before
        WHERE l.id = before.id RETURNING before.length
    )
    UPDATE jobs SET lease_until = lease_until + gap.length FROM gap
    WHERE jobs.state = 'leased' AND gap.length > interval '10 s'
""")

EXPIRE_LEASES = text("""
    SELECT fail_job(j.id, 'lost', format('the lease of attempt %s on %s ran out', j.attempt, n.name))
    FROM jobs AS j JOIN nodes AS n ON n.id = j.node_id
    WHERE j.state = 'leased' AND j.lease_until < clock_timestamp()
""")

WITHDRAW_OFFERS = text("""
    UPDATE jobs AS j SET state = 'queued', node_id = NULL, offered_at = NULL
    FROM node_status AS n
    WHERE j.state = 'offered' AND n.id = j.node_id AND NOT (n.online AND n.state = 'ready')
""")

GIVE_UP_HOPELESS = text("""
    SELECT set_aside(j, coalesce(j.reason, 'unknown'))
    FROM jobs AS j
    WHERE j.state = 'queued' AND j.id IN (SELECT f.job_id FROM job_failures AS f) AND is_hopeless(j)
""")
"""A job that one node could not do waits for another; when the last other node has gone, it waits no more."""

GIVE_UP_WITHOUT_NODES = text("""
    UPDATE jobs AS j SET state = 'set_aside', reason = 'no node left: ' || left_out.reason
    FROM (
        SELECT q.id, n.reason
        FROM jobs AS q JOIN (
            SELECT id, name || ' is quarantined (' || reason || ')' AS reason FROM nodes WHERE state = 'quarantined'
        ) AS n ON n.id = q.pinned_node_id
        WHERE q.state = 'queued'
        UNION ALL
        SELECT q.id, n.reason
        FROM jobs AS q, (
            SELECT string_agg(name || ' is quarantined (' || reason || ')', '; ' ORDER BY name) AS reason
            FROM nodes HAVING bool_and(state = 'quarantined')
        ) AS n
        WHERE q.state = 'queued' AND q.pinned_node_id IS NULL
    ) AS left_out
    WHERE j.id = left_out.id AND j.state = 'queued'
      AND NOT EXISTS (SELECT FROM jobs AS h WHERE h.campaign_id = j.campaign_id AND h.state = 'leased')
""")

END_CAMPAIGNS = text("""
    WITH over AS (
        SELECT c.id FROM campaigns AS c
        WHERE c.state = 'running' AND NOT EXISTS (
            SELECT FROM job_counts AS k
            WHERE k.campaign_id = c.id AND k.jobs > 0 AND k.state IN ('queued', 'offered', 'leased'))
        FOR UPDATE SKIP LOCKED
    ), gaps AS (
        SELECT o.id, coalesce(j.reason, 'unknown') AS reason, count(*) AS missing
        FROM over AS o
        JOIN jobs AS j ON j.campaign_id = o.id AND j.state = 'set_aside'
        CROSS JOIN LATERAL generate_series(j.first_replicate, j.first_replicate + j.replicates - 1) AS k
        WHERE NOT EXISTS (SELECT FROM runs AS r
                          WHERE r.setting_id = j.setting_id AND r.replicate = k AND r.validity = 'valid')
        GROUP BY o.id, coalesce(j.reason, 'unknown')
    ), ended AS (
        UPDATE campaigns AS c
        SET state = CASE WHEN g.missing IS NULL THEN 'complete' ELSE 'incomplete' END,
            missing = coalesce(g.missing, '{}'), ended_at = clock_timestamp()
        FROM over AS o
        LEFT JOIN (SELECT id, jsonb_object_agg(reason, missing) AS missing FROM gaps GROUP BY id) AS g ON g.id = o.id
        WHERE c.id = o.id
        RETURNING c.id, c.state
    )
    SELECT tell('campaign_' || state, 'ended ' || state, id, NULL), pg_notify('modescope', 'analyses') FROM ended
""")

COMPLETE_LATE = text("""
    UPDATE campaigns AS c SET state = 'complete', missing = '{}'
    WHERE c.state = 'incomplete' AND NOT EXISTS (
        SELECT FROM job_counts AS k WHERE k.campaign_id = c.id AND k.jobs > 0 AND k.state <> 'done')
""")
"""What was missing came home in a spool after the end."""

ANALYSIS_DUE = text("""
    SELECT EXISTS (SELECT FROM analyses
                   WHERE current AND (state = 'due' OR state = 'leased' AND lease_until < clock_timestamp()))
        OR EXISTS (SELECT FROM campaigns AS c
                   WHERE c.state <> 'running'
                     AND EXISTS (SELECT FROM analyses AS a WHERE a.campaign_id = c.id AND a.current AND NOT a.final)
                     AND NOT EXISTS (SELECT FROM analyses AS a
                                     WHERE a.campaign_id = c.id AND a.current AND a.state <> 'done'))
""")
