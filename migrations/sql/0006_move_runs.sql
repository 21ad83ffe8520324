-- After the blocks of `unpacked_runs` are packed: each run goes beside its telemetry.
INSERT INTO runs (
    id, started_at, job_id, setting_id, replicate, session_id, sequence, previous_setting_id, telemetry_id, elapsed_s,
    settle_s, attempt, try_number, engine_build_id, exit_status, validity, reason, "values")
SELECT r.id, r.started_at, r.job_id, r.setting_id, r.replicate, r.session_id, r.sequence, r.previous_setting_id,
       b.telemetry_id, r.elapsed_s, r.settle_s, r.attempt, r.try_number, r.engine_build_id, r.exit_status, r.validity,
       coalesce(r.reason, ''), r."values"
FROM unpacked_runs AS r
LEFT JOIN packed_blocks AS b ON b.job_id = r.job_id AND b.session_id = r.session_id;
DROP TABLE packed_blocks;
DROP TABLE unpacked_runs;
