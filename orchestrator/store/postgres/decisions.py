"""The statements behind the controller's decisions, each with its reason."""

from __future__ import annotations

from sqlalchemy import text

DISPATCH = text("SELECT job_id, node FROM dispatch(:outstanding)")

DISPATCH_ALONE = text("SELECT job_id, node FROM dispatch_alone(:outstanding)")

UNENGAGED = text("SELECT job_id, node, is_known FROM unengaged(:jobs)")

SEND_AGAIN = text("""
    UPDATE jobs AS j SET offered_at = statement_timestamp()
    FROM nodes AS n
    WHERE j.state = 'offered'
      AND j.offered_at < greatest(n.seen_at, clock_timestamp() - make_interval(secs => :older_than_s))
      AND n.id = j.node_id AND n.session_id IS NOT NULL AND n.seen_at > clock_timestamp() - interval '45 s'
      AND NOT EXISTS (SELECT FROM jobs AS h WHERE h.node_id = n.id AND h.state = 'leased')
    RETURNING j.id AS job_id, n.name AS node
""")
"""Of nodes that hold no lease only those that were heard of lately are online: no need to look at all nodes."""

# After a gap of our own (database away, controllers stopped) nobody could renew, and nobody was heard of: every lease
# gets the gap's length, and no node was away the longer for it. While agents find no connection free, all time is such
# a gap: a controller keeps its own.
GRANT_THE_GAP = text("""
    WITH gap AS (
        UPDATE ledger AS l SET reconciled_at = clock_timestamp()
        FROM (SELECT id, clock_timestamp() - reconciled_at AS length FROM ledger FOR UPDATE) AS before
        WHERE l.id = before.id
        RETURNING CASE WHEN before.length > interval '10 s' OR no_connection_is_free() THEN before.length
                       ELSE interval '0' END AS length
    ), granted AS (
        UPDATE jobs SET lease_until = lease_until + gap.length FROM gap
        WHERE jobs.state = 'leased' AND gap.length > interval '0'
    )
    SELECT length FROM gap
""")

NOTE_ABSENCES = text("SELECT note_absences(:gap)")

GIVE_AWAY = text("SELECT take_out(), give_away(), give_up_rounds()")

EXPIRE_LEASES = text("""
    SELECT fail_job(j.id, 'lost', format('the lease of attempt %s on %s ran out', j.attempt, n.name))
    FROM jobs AS j JOIN nodes AS n ON n.id = j.node_id
    WHERE j.state = 'leased' AND j.lease_until < clock_timestamp()
""")

WITHDRAW_OFFERS = text("""
    UPDATE jobs AS j SET state = 'queued', node_id = NULL, offered_at = NULL
    FROM node_status AS n, campaigns AS c
    WHERE j.state = 'offered' AND n.id = j.node_id AND c.id = j.campaign_id
      AND (c.paused OR NOT (n.online AND n.state = 'ready'))
""")

GIVE_UP_HOPELESS = text("""
    SELECT set_aside(j, coalesce(j.reason, 'unknown'))
    FROM jobs AS j
    WHERE j.state = 'queued' AND j.failures > 0 AND is_hopeless(j)
""")
"""A job that one node could not do waits for another; when the last other node has gone, it waits no more."""

GIVE_UP_WITHOUT_NODES = text("""
    UPDATE jobs AS j SET state = 'set_aside', reason = 'no node left: ' || left_out.reason
    FROM (
        SELECT q.id, n.reason
        FROM jobs AS q JOIN campaigns AS c ON c.id = q.campaign_id JOIN (
            SELECT id, name || ' is quarantined (' || reason || ')' AS reason FROM nodes WHERE state = 'quarantined'
        ) AS n ON n.id = q.pinned_node_id
        WHERE q.state = 'queued' AND c.placement = 'pinned' AND c.state = 'running'
        UNION ALL
        SELECT q.id, n.reason
        FROM (
            SELECT string_agg(name || ' is quarantined (' || reason || ')', '; ' ORDER BY name) AS reason
            FROM nodes HAVING bool_and(state = 'quarantined')
        ) AS n
        CROSS JOIN campaigns AS c JOIN jobs AS q ON q.campaign_id = c.id
        WHERE q.state = 'queued' AND c.placement NOT IN ('pinned', 'lockstep') AND c.state = 'running'
    ) AS left_out
    WHERE j.id = left_out.id AND j.state = 'queued'
      AND NOT EXISTS (SELECT FROM jobs AS h WHERE h.campaign_id = j.campaign_id AND h.state = 'leased')
""")

ANY_QUARANTINED = text("SELECT EXISTS (SELECT FROM nodes WHERE state = 'quarantined')")

END_CAMPAIGNS = text("""
    WITH over AS (
        SELECT c.id FROM campaigns AS c
        WHERE c.state = 'running' AND has_grown(c) AND (
            SELECT coalesce(sum(k.jobs), 0) FROM job_counts AS k
            WHERE k.campaign_id = c.id AND k.state IN ('queued', 'offered', 'leased')) = 0
        FOR UPDATE SKIP LOCKED
    ), ended AS (
        UPDATE campaigns AS c
        SET state = CASE WHEN g.missing = '{}' THEN 'complete' ELSE 'incomplete' END,
            missing = g.missing, ended_at = clock_timestamp()
        FROM over AS o CROSS JOIN LATERAL missing_runs(o.id) AS g (missing)
        WHERE c.id = o.id
        RETURNING c.id, c.state
    )
    SELECT id, tell('campaign_' || state, 'ended ' || state, id, NULL), pg_notify('modescope', 'analyses') FROM ended
""")
ANALYSE_WHAT_GREW = text("SELECT analyse_what_grew(c.id) FROM unnest(CAST(:campaigns AS integer[])) AS c (id)")

COUNT_ANEW = text("""
    WITH late AS (
        SELECT c.id FROM campaigns AS c
        WHERE c.state = 'incomplete'
          AND (SELECT sum(value::bigint) FROM jsonb_each_text(c.missing))
              <> coalesce(c.expected_runs, c.setting_count * c.replicates)
                 - (SELECT coalesce(sum(h.valid), 0) FROM shares AS h WHERE h.campaign_id = c.id)
    ), changed AS (
        UPDATE campaigns AS c
        SET missing = g.missing, state = CASE WHEN g.missing = '{}' THEN 'complete' ELSE c.state END
        FROM late CROSS JOIN LATERAL missing_runs(late.id) AS g (missing)
        WHERE c.id = late.id
        RETURNING c.id, c.state
    )
    SELECT tell('campaign_complete', 'ended complete', id, NULL) FROM changed WHERE state = 'complete'
""")
"""Some, or all, of what was missing came home in a spool after the end."""

ANALYSIS_DUE = text("""
    SELECT EXISTS (SELECT FROM analyses
                   WHERE current AND (state = 'due' OR state = 'leased' AND lease_until < clock_timestamp()))
        OR EXISTS (SELECT FROM rounds_due())
        OR EXISTS (SELECT FROM campaigns AS c
                   WHERE c.state <> 'running'
                     AND EXISTS (SELECT FROM analyses AS a WHERE a.campaign_id = c.id AND a.current AND NOT a.final)
                     AND NOT EXISTS (SELECT FROM analyses AS a
                                     WHERE a.campaign_id = c.id AND a.current AND a.state <> 'done'))
""")
