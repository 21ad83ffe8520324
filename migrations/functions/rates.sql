-- What the controller needs to tell rates and the time left.

-- Whoever ends a job: note when. Runs that came since are found by it.
CREATE FUNCTION note_done() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.done_at := clock_timestamp();
    RETURN NEW;
END $$;
CREATE TRIGGER jobs_note_done BEFORE UPDATE OF state ON jobs
    FOR EACH ROW WHEN (NEW.state = 'done' AND OLD.state <> 'done') EXECUTE FUNCTION note_done();

-- Valid runs of jobs that were done after `p_after` (the newest `p_jobs`), and of those in hand; by session, in order.
CREATE FUNCTION completions(p_campaign integer, p_after double precision, p_jobs integer) RETURNS TABLE (
    job_id bigint, setting integer, node text, session uuid, sequence integer, started_at double precision,
    elapsed_s real, done_at double precision
) LANGUAGE sql STABLE AS $$
    WITH picked AS (
        (SELECT * FROM jobs AS j WHERE j.campaign_id = p_campaign AND j.done_at > to_timestamp(p_after)
         ORDER BY j.done_at DESC LIMIT p_jobs)
        UNION ALL
        SELECT * FROM jobs AS j WHERE j.campaign_id = p_campaign AND j.state = 'leased'
    )
    SELECT j.id, t.ordinal, n.name, s.key, r.sequence, extract(epoch FROM r.started_at)::float8, r.elapsed_s,
           extract(epoch FROM j.done_at)::float8
    FROM picked AS j
    JOIN settings AS t ON t.id = j.setting_id
    JOIN runs AS r ON r.setting_id = j.setting_id AND r.validity = 'valid' AND r.job_id = j.id
        AND r.replicate >= j.first_replicate AND r.replicate < j.first_replicate + j.replicates
    JOIN sessions AS s ON s.id = r.session_id
    JOIN nodes AS n ON n.id = s.node_id
    ORDER BY s.id, r.sequence;
$$;

-- Keep a node's rate; where its phase began after the last change was told, the change is an event.
CREATE FUNCTION keep_rate(
    p_campaign integer, p_node text, p_rate double precision, p_low double precision, p_high double precision,
    p_runs integer, p_since double precision, p_change text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_node integer := (SELECT id FROM nodes WHERE name = p_node);
    v_first boolean := NOT EXISTS (
        SELECT FROM node_rates AS k WHERE k.campaign_id = p_campaign AND k.node_id = v_node);
    v_new boolean := p_change IS NOT NULL AND NOT EXISTS (
        SELECT FROM node_rates AS k
        WHERE k.campaign_id = p_campaign AND k.node_id = v_node AND k.told_at >= to_timestamp(p_since));
BEGIN
    INSERT INTO node_rates AS k (campaign_id, node_id, runs_per_s, low_per_s, high_per_s, runs, since, at, told_at)
    VALUES (p_campaign, v_node, p_rate, p_low, p_high, p_runs, to_timestamp(p_since), clock_timestamp(),
            CASE WHEN v_new THEN clock_timestamp() END)
    ON CONFLICT (campaign_id, node_id) DO UPDATE
    SET runs_per_s = p_rate, low_per_s = p_low, high_per_s = p_high, runs = p_runs, since = EXCLUDED.since,
        at = EXCLUDED.at, told_at = coalesce(EXCLUDED.told_at, k.told_at);
    IF v_new OR v_first THEN  -- what was dealt by other rates, and still waits, is dealt again
        UPDATE jobs AS j SET pinned_node_id = NULL FROM campaigns AS c
        WHERE c.id = p_campaign AND c.placement = 'by_rate'
          AND j.campaign_id = c.id AND j.state = 'queued' AND j.pinned_node_id IS NOT NULL;
    END IF;
    IF v_new THEN
        PERFORM tell('node_rate_changed', p_change, p_campaign, v_node);
    END IF;
    RETURN v_new;
END $$;
