-- Campaigns that grow in rounds. A round is over when nobody has a job of it any more and all that it measured is
-- analysed; what follows is decided by a policy (workers/growing.py) and done here, whole or not at all.

-- Is a round of this campaign over, and nothing decided? Runs open their analyses before their job ends.
CREATE FUNCTION is_round_over(p_campaign campaigns) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_campaign.state = 'running' AND p_campaign.growth IS NOT NULL
        AND NOT EXISTS (SELECT FROM rounds AS r WHERE r.campaign_id = p_campaign.id AND r.settings = 0)
        AND jobs_in(p_campaign.id, 'queued') + jobs_in(p_campaign.id, 'offered') + jobs_in(p_campaign.id, 'leased') = 0
        AND NOT EXISTS (SELECT FROM analyses AS a
                        WHERE a.campaign_id = p_campaign.id AND a.current AND a.state <> 'done');
$$;

-- May this campaign end as soon as it has no open jobs?
CREATE FUNCTION has_grown(p_campaign campaigns) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_campaign.growth IS NULL
        OR EXISTS (SELECT FROM rounds AS r WHERE r.campaign_id = p_campaign.id AND r.settings = 0);
$$;

CREATE FUNCTION rounds_due() RETURNS TABLE (campaign_id integer, number integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT c.id, 1 + (SELECT count(*)::integer FROM rounds AS r WHERE r.campaign_id = c.id)
    FROM campaigns AS c WHERE c.state = 'running' AND c.growth IS NOT NULL AND is_round_over(c) ORDER BY c.id;
$$;

-- End round p_number: p_settings[i] shall have p_replicates[i] runs altogether; none at all: the campaign may end.
-- False, and nothing done, when the round has been decided, is not over, or the campaign does not run any more.
CREATE FUNCTION decide_round(
    p_campaign integer, p_number integer, p_settings integer[], p_replicates integer[], p_record jsonb
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_campaign campaigns;
    v_settings integer;
    v_runs integer;
BEGIN
    SELECT * INTO v_campaign FROM campaigns WHERE id = p_campaign FOR UPDATE;  -- who decides, one after the other
    IF v_campaign.id IS NULL OR NOT is_round_over(v_campaign)
        OR p_number <> 1 + (SELECT count(*) FROM rounds AS r WHERE r.campaign_id = p_campaign) THEN
        RETURN false;
    END IF;
    PERFORM add_replicates(v_campaign, p_number, p_settings, p_replicates);
    WITH grown AS (
        SELECT t.id, t.replicates AS before, g.replicates AS after
        FROM unnest(p_settings, p_replicates) AS g (setting, replicates)
        JOIN settings AS t ON t.id = g.setting AND t.campaign_id = p_campaign
        WHERE g.replicates > coalesce(t.replicates, v_campaign.replicates)
    ), changed AS (
        UPDATE settings AS t SET replicates = g.after FROM grown AS g WHERE t.id = g.id
    )
    SELECT count(*), coalesce(sum(g.after - coalesce(g.before, v_campaign.replicates)), 0)
    INTO v_settings, v_runs FROM grown AS g;
    UPDATE campaigns AS c
    SET expected_runs = coalesce(c.expected_runs, c.setting_count * c.replicates) + v_runs WHERE c.id = p_campaign;
    INSERT INTO rounds (campaign_id, number, settings, runs, record)
    VALUES (p_campaign, p_number, v_settings, v_runs, p_record);
    PERFORM tell('campaign_round', CASE WHEN v_settings = 0 THEN format('round %s was the last', p_number) ELSE
        format('round %s: %s more runs of %s of %s settings', p_number, v_runs, v_settings, v_campaign.setting_count)
        END, p_campaign, NULL);
    RETURN true;
END $$;

-- Of a campaign that has ended inside a round: analyse what has grown since it was analysed.
CREATE FUNCTION analyse_what_grew(p_campaign integer) RETURNS void LANGUAGE sql AS $$
    SELECT open_analyses(ARRAY(
        SELECT t.id FROM settings AS t JOIN campaigns AS c ON c.id = t.campaign_id
        WHERE c.id = p_campaign AND c.growth IS NOT NULL AND t.valid_runs < coalesce(t.replicates, c.replicates)));
$$;

-- The jobs of another round, behind all others: block b holds every setting that goes on once, in an order of its own.
CREATE FUNCTION add_replicates(p_campaign campaigns, p_number integer, p_settings integer[], p_replicates integer[])
RETURNS void LANGUAGE sql AS $$
    WITH cut AS (
        SELECT (p_campaign.growth ->> 'replicates_per_job')::integer AS size,
               (p_campaign.growth ->> 'randomised')::boolean AS randomised, p_campaign.growth ->> 'seed' AS seed
    ), behind AS (
        SELECT coalesce(max(j.block), -1) + 1 AS block, coalesce(max(j.position), -1) AS position
        FROM jobs AS j WHERE j.campaign_id = p_campaign.id
    ), grown AS (
        SELECT t.id, t.ordinal, coalesce(t.replicates, p_campaign.replicates) AS before, g.replicates AS after
        FROM unnest(p_settings, p_replicates) AS g (setting, replicates)
        JOIN settings AS t ON t.id = g.setting AND t.campaign_id = p_campaign.id
        WHERE g.replicates > coalesce(t.replicates, p_campaign.replicates)
    )
    INSERT INTO jobs (campaign_id, setting_id, block, position, first_replicate, replicates, pinned_node_id)
    SELECT p_campaign.id, g.id, behind.block + k.block,
           behind.position + row_number() OVER (ORDER BY k.block, lot.lot COLLATE "C", g.ordinal),
           g.before + k.block * cut.size, least(cut.size, g.after - g.before - k.block * cut.size),
           home_of(p_campaign, g.id, g.ordinal)
    FROM grown AS g CROSS JOIN cut CROSS JOIN behind
    CROSS JOIN LATERAL generate_series(0, (g.after - g.before - 1) / cut.size) AS k (block)
    CROSS JOIN LATERAL (SELECT CASE WHEN cut.randomised
        THEN md5(concat_ws(' ', cut.seed, p_number, k.block, g.ordinal)) ELSE '' END) AS lot (lot);
$$;

-- The node that a setting of a pinned campaign stays on: where its last job was to be done; else one of the campaign's.
CREATE FUNCTION home_of(p_campaign campaigns, p_setting integer, p_ordinal integer) RETURNS integer
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_campaign.placement = 'pinned' THEN coalesce(
        (SELECT j.pinned_node_id FROM jobs AS j WHERE j.setting_id = p_setting ORDER BY j.position DESC LIMIT 1),
        (SELECT (array_agg(m.node_id ORDER BY m.node_id))[1 + p_ordinal % count(*)::integer]
         FROM campaign_nodes AS m WHERE m.campaign_id = p_campaign.id AND m.lost_at IS NULL)) END;
$$;
