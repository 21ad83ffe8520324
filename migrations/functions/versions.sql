-- Versions of a campaign's analysis: the analyses of the one that is shown are current, and nobody sees the others.

CREATE FUNCTION show_version(p_campaign integer, p_number integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE campaigns AS c SET analysis_version = v.number, analysis_options = v.options
    FROM analysis_versions AS v WHERE c.id = p_campaign AND v.campaign_id = c.id AND v.number = p_number;
    UPDATE analyses AS a SET current = false
    WHERE a.campaign_id = p_campaign AND a.current AND a.options_version <> p_number;
    UPDATE analyses AS a SET current = true
    WHERE a.campaign_id = p_campaign AND NOT a.current AND a.id IN (
        SELECT max(n.id) FROM analyses AS n WHERE n.campaign_id = p_campaign AND n.options_version = p_number
        GROUP BY n.setting_id, n.mode);
    PERFORM open_analyses(ARRAY(SELECT t.id FROM settings AS t WHERE t.campaign_id = p_campaign));
    PERFORM pg_notify('modescope', 'analyses');
END $$;
