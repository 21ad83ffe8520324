"""Samples to be fitted, leased in batches like jobs (DESIGN 9)."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, delete, func, select, text, update

from orchestrator.contracts.analyses import Analysis, Batch, Fitted, Judgement, Result
from orchestrator.store.models import Analysis as Row
from orchestrator.store.models import RepeatedFlag
from orchestrator.store.postgres.connection import Database
from orchestrator.store.rules import ANALYSIS_LEASE_S

_LEASE = text("""
    UPDATE analyses SET state = 'leased', token = :token, version = :version,
                        lease_until = clock_timestamp() + make_interval(secs => :lease_s)
    WHERE id IN (
        SELECT id FROM analyses
        WHERE current AND (state = 'due' OR state = 'leased' AND lease_until < clock_timestamp())
        ORDER BY id LIMIT :most FOR UPDATE SKIP LOCKED)
""")
_RENEW = text("""
    UPDATE analyses SET lease_until = clock_timestamp() + make_interval(secs => :lease_s)
    WHERE id = ANY (:ids) AND token = :token
""")
# One pass over the runs of a setting serves all its modes: their values share a row. The first runs of a job may be set
# aside as warm-up.
_SAMPLES = text("""
    SELECT a.id, a.campaign_id, a.setting_id, a.mode, a.digest, c.analysis_options AS options, t.valid_runs AS runs,
           made.sample, made.jobs
    FROM analyses AS a JOIN settings AS t ON t.id = a.setting_id JOIN campaigns AS c ON c.id = a.campaign_id
    CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(k.value ORDER BY k.replicate), '{}') AS sample,
               coalesce(array_agg(k.job_id ORDER BY k.replicate), '{}') AS jobs
        FROM (
            SELECT r."values"[array_position(t.modes, a.mode)] AS value, r.replicate, r.job_id,
                   row_number() OVER (PARTITION BY r.job_id ORDER BY r.started_at, r.replicate) AS place
            FROM runs AS r WHERE r.setting_id = a.setting_id AND r.validity = 'valid') AS k
        WHERE k.place > coalesce((c.analysis_options ->> 'discard')::integer, 0)) AS made
    WHERE a.token = :token ORDER BY a.id
""")
_UNJUDGED = text("""
    SELECT c.id FROM campaigns AS c
    WHERE c.state <> 'running'
      AND EXISTS (SELECT FROM analyses AS a
                  WHERE a.campaign_id = c.id AND a.current AND NOT a.final AND a.version = :version)
      AND NOT EXISTS (SELECT FROM analyses AS a WHERE a.campaign_id = c.id AND a.current AND a.state <> 'done')
    ORDER BY c.id
""")
_JUDGE = text("""
    UPDATE analyses AS a SET dip_q = j.dip_q, verdict = j.verdict, sentence = j.sentence, final = true,
                             confirmation = CAST(j.confirmation AS jsonb)
    FROM unnest(CAST(:ids AS bigint[]), CAST(:dip_qs AS float8[]), CAST(:verdicts AS text[]),
                CAST(:sentences AS text[]), CAST(:confirmations AS text[]))
        AS j (id, dip_q, verdict, sentence, confirmation)
    WHERE a.id = j.id AND a.campaign_id = :campaign AND a.current AND a.version = :version
""")
_FITTED_COLUMNS = """
    SELECT a.id, a.setting_id, a.mode, CASE WHEN :whole THEN a.selection END AS selection, a.dip_q, a.verdict,
           a.sentence, a.error,
           ARRAY(SELECT k.value FROM (
                     SELECT r."values"[array_position(t.modes, a.mode)] AS value, r.replicate,
                            row_number() OVER (PARTITION BY r.job_id ORDER BY r.started_at, r.replicate) AS place
                     FROM runs AS r WHERE r.setting_id = a.setting_id AND r.validity = 'valid') AS k
                 WHERE k.place > coalesce((c.analysis_options ->> 'discard')::integer, 0)
                 ORDER BY k.replicate) AS sample
    FROM analyses AS a JOIN settings AS t ON t.id = a.setting_id JOIN campaigns AS c ON c.id = a.campaign_id
"""
_FITTED = text(f"""
    {_FITTED_COLUMNS}
    WHERE a.campaign_id = :campaign AND a.current AND a.state = 'done'
      AND (CAST(:verdict AS text) IS NULL OR a.verdict = :verdict)
    ORDER BY t.ordinal, array_position(t.modes, a.mode)
""")
_FITTED_BY_ID = text(f"{_FITTED_COLUMNS} WHERE a.id = ANY (CAST(:ids AS bigint[]))")


class PostgresAnalyses:
    """Lease, store, judge."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def lease(self, version: str, *, limit: int = 50, lease_s: float = ANALYSIS_LEASE_S) -> Batch | None:
        """A batch of configurations whose sample is complete and not analysed yet."""
        token = uuid4()
        with self._database.writing() as connection:
            named = {"token": token, "version": version, "lease_s": lease_s, "most": limit}
            if connection.execute(_LEASE, named).rowcount == 0:
                return None
            rows = connection.execute(_SAMPLES, {"token": token}).all()
        return Batch(token=token, version=version, analyses=tuple(_analysis(row) for row in rows))

    def renew(self, batch: Batch, *, lease_s: float = ANALYSIS_LEASE_S) -> int:
        """Prolong the leases that are still the batch's own."""
        named = {"ids": [one.id for one in batch.analyses], "token": batch.token, "lease_s": lease_s}
        with self._database.calling() as connection:
            return connection.execute(_RENEW, named).rowcount

    def store(self, batch: Batch, results: Sequence[Result]) -> int:
        """Keep the results whose digest is still current; how many were kept."""
        kept = 0
        with self._database.writing() as connection:
            for result in results:
                proof = (
                    Row.id == result.analysis_id,
                    Row.token == batch.token,
                    Row.digest == result.digest,
                    Row.current,
                )
                kept += connection.execute(update(Row).where(*proof).values(_columns(result))).rowcount
        return kept

    def unjudged(self, version: str) -> list[int]:
        """Campaigns that have ended, whose analyses are all done, and whose verdicts are not final."""
        with self._database.reading() as connection:
            return list(connection.execute(_UNJUDGED, {"version": version}).scalars())

    def judge(self, campaign_id: int, version: str, judgements: Sequence[Judgement]) -> bool:
        """Make verdicts final; False (and nothing stored) when an analysis has been opened meanwhile."""
        with self._database.writing() as connection:
            mine = (Row.campaign_id == campaign_id, Row.current)
            analyses = connection.execute(select(Row.id, Row.state, Row.error).where(*mine).with_for_update()).all()
            judged = {judgement.analysis_id for judgement in judgements}
            if any(row.state != "done" or (row.id not in judged and row.error is None) for row in analyses):
                return False
            connection.execute(update(Row).where(*mine, Row.error.is_not(None)).values(final=True))
            columns = {
                "ids": [judgement.analysis_id for judgement in judgements],
                "dip_qs": [judgement.dip_q for judgement in judgements],
                "verdicts": [judgement.verdict for judgement in judgements],
                "sentences": [judgement.sentence for judgement in judgements],
                "confirmations": [_as_json(judgement.confirmation) for judgement in judgements],
            }
            connection.execute(_JUDGE, {"campaign": campaign_id, "version": version, **columns})
            connection.execute(delete(RepeatedFlag).where(RepeatedFlag.campaign_id == campaign_id))
        return True

    def fitted(
        self, campaign_id: int, *, verdict: str | None = None, whole: bool = True
    ) -> Generator[Fitted, None, None]:
        """Analysed configurations with sample and selection, streamed."""
        with self._database.streaming() as connection:
            for row in connection.execute(_FITTED, {"campaign": campaign_id, "verdict": verdict, "whole": whole}):
                yield _fitted(row)


def fitted_by_id(connection: Connection, ids: Sequence[int]) -> dict[int, Fitted]:
    """Analysed configurations of any campaign, whole, by the id of their analysis."""
    return {row.id: _fitted(row) for row in connection.execute(_FITTED_BY_ID, {"ids": ids, "whole": True})}


def _fitted(row: Any) -> Fitted:
    return Fitted(**{**row._mapping, "sample": tuple(row.sample)})


def _as_json(confirmation: Mapping[str, Any] | None) -> str | None:
    return None if confirmation is None else json.dumps(confirmation)


def _analysis(row: Any) -> Analysis:
    return Analysis(**{**row._mapping, "sample": tuple(row.sample), "jobs": tuple(row.jobs)})


def _columns(result: Result) -> dict[str, Any]:
    """What is asked of every configuration stands in columns of its own, beside the whole selection."""
    found = result.selection or {}
    summary = ("components", "family", "bic", "density_modes", "bic_gap", "dip_p")
    return {
        "state": "done",
        "token": None,
        "lease_until": None,
        "analysed_at": func.clock_timestamp(),
        "selection": result.selection,
        "verdict": result.verdict,
        "sentence": result.sentence,
        "error": result.error,
        "fit_s": result.fit_s,
        "median": result.median,
        "variation": result.variation,
        "family_bics": result.family_bics,
        "needed_runs": result.needed_runs,
        **{name: found.get(name) for name in summary},
    }
