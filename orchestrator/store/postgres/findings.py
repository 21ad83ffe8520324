"""What was found: read out for pages about a design, a configuration, a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, select, text

from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.circumstances import Circumstance
from orchestrator.contracts.designs import Level
from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.findings import EngineUse, FamilySummary, Outcome, RunPage, Summary
from orchestrator.store.models import Campaign as CampaignRow
from orchestrator.store.postgres import export
from orchestrator.store.postgres.archive import refuse_archived
from orchestrator.store.postgres.connection import Database
from orchestrator.store.rules import TIMED, no_campaign, no_run
from orchestrator.store.telemetry import unpack

# A row per setting: reading its levels once, and not with every mode, halves the time.
_OUTCOMES = text("""
    SELECT t.id, t.levels, t.modes, array_agg(a.mode), array_agg(a.verdict), array_agg(a.components),
           array_agg(a.variation), array_agg(a.median)
    FROM settings AS t LEFT JOIN analyses AS a ON a.setting_id = t.id AND a.current
    WHERE t.campaign_id = :campaign AND t.control IS NULL
    GROUP BY t.id ORDER BY t.ordinal
""")
_COUNTS = text("""
    SELECT a.family, a.components, coalesce(a.verdict, '') AS verdict, count(*) AS configurations
    FROM analyses AS a JOIN settings AS t ON t.id = a.setting_id
    WHERE a.campaign_id = :campaign AND a.current AND a.family IS NOT NULL AND t.control IS NULL
    GROUP BY 1, 2, 3
""")
_BIC_SUMS = text("""
    SELECT b.family, sum(b.bic::float8) AS bic_sum, count(*) AS fitted
    FROM analyses AS a JOIN settings AS t ON t.id = a.setting_id
    CROSS JOIN LATERAL jsonb_each(a.family_bics) AS b (family, bic)
    WHERE a.campaign_id = :campaign AND a.current AND a.family IS NOT NULL AND t.control IS NULL
    GROUP BY 1 ORDER BY 2, 1
""")
_ELAPSED = text("""
    SELECT r.setting_id, avg(r.elapsed_s) FROM runs AS r
    WHERE r.setting_id = ANY (:settings) AND r.validity = 'valid' AND r.replicate < :timed
      AND EXISTS (SELECT FROM settings AS t WHERE t.id = r.setting_id AND t.campaign_id = :campaign)
    GROUP BY 1
""")
_SHARES = text("""
    SELECT r.setting_id, n.name, count(*) FROM runs AS r
    JOIN sessions AS s ON s.id = r.session_id JOIN nodes AS n ON n.id = s.node_id
    WHERE r.setting_id = ANY (:settings) AND r.validity = 'valid'
      AND EXISTS (SELECT FROM settings AS t WHERE t.id = r.setting_id AND t.campaign_id = :campaign)
    GROUP BY 1, 2 ORDER BY 1, 2
""")
_CIRCUMSTANCES = text("""
    SELECT r.id, r.replicate, t.modes, r."values", n.name AS node, r.job_id AS job, s.key AS session,
           extract(epoch FROM r.started_at)::float8 AS started_at, p.levels AS previous_levels
    FROM settings AS t JOIN runs AS r ON r.setting_id = t.id AND r.validity = 'valid'
    JOIN sessions AS s ON s.id = r.session_id JOIN nodes AS n ON n.id = s.node_id
    LEFT JOIN settings AS p ON p.id = r.previous_setting_id AND p.campaign_id = t.campaign_id AND p.control IS NULL
    WHERE t.id = :setting AND t.campaign_id = :campaign
    ORDER BY r.started_at, r.id
""")
_ENGINES = text("""
    SELECT n.name AS node, e.name AS engine, e.version, count(*) AS runs,
           extract(epoch FROM min(r.started_at))::float8 AS first_at,
           extract(epoch FROM max(r.started_at))::float8 AS last_at
    FROM settings AS t JOIN runs AS r ON r.setting_id = t.id AND r.validity = 'valid'
    JOIN sessions AS s ON s.id = r.session_id JOIN nodes AS n ON n.id = s.node_id
    JOIN engine_builds AS e ON e.id = r.engine_build_id
    WHERE t.campaign_id = :campaign
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
""")
_RUN = text("""
    SELECT r.id, r.setting_id, t.modes, r."values", n.name AS node, r.replicate, r.try_number, r.sequence,
           extract(epoch FROM r.started_at)::float8 AS started_at, r.elapsed_s, r.settle_s, e.name AS engine,
           e.version AS engine_version, r.exit_status, r.validity, nullif(r.reason, '') AS reason,
           p.packed
    FROM runs AS r
    JOIN settings AS t ON t.id = r.setting_id
    JOIN sessions AS s ON s.id = r.session_id
    JOIN nodes AS n ON n.id = s.node_id
    JOIN engine_builds AS e ON e.id = r.engine_build_id
    LEFT JOIN telemetry AS p ON p.id = r.telemetry_id
    WHERE r.id = :run AND t.campaign_id = :campaign
""")


class PostgresFindings:
    """See `ports.Findings`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def outcomes(self, campaign_id: int) -> list[Outcome]:
        """Every configuration but controls, in order of setting and mode."""
        with self._database.reading() as connection:
            _check(connection, campaign_id)
            rows = connection.execute(_OUTCOMES, {"campaign": campaign_id})
            return [outcome for row in rows for outcome in _outcomes(*row)]

    def summary(self, campaign_id: int) -> Summary:
        """The study's tables."""
        with self._database.reading() as connection:
            _check(connection, campaign_id)
            counts = connection.execute(_COUNTS, {"campaign": campaign_id}).all()
            sums = connection.execute(_BIC_SUMS, {"campaign": campaign_id}).all()
        return _summary(counts, sums)

    def repeats(self, campaign_id: int, setting_id: int, mode: str) -> list[Configuration]:
        """The same configuration in the campaign that this one re-runs, and in its re-runs."""
        with self._database.reading() as connection:
            return export.repeats(connection, campaign_id, setting_id, mode)

    def elapsed_s(self, campaign_id: int, setting_ids: Collection[int]) -> dict[int, float]:
        """Setting -> mean duration of its first valid runs."""
        named = {"campaign": campaign_id, "settings": list(setting_ids), "timed": TIMED}
        with self._database.reading() as connection:
            return {setting_id: float(mean) for setting_id, mean in connection.execute(_ELAPSED, named)}

    def shares(self, campaign_id: int, setting_ids: Collection[int]) -> dict[int, dict[str, int]]:
        """Setting -> node -> its valid runs."""
        found: dict[int, dict[str, int]] = {}
        with self._database.reading() as connection:
            for setting_id, node, runs in connection.execute(
                _SHARES, {"campaign": campaign_id, "settings": list(setting_ids)}
            ):
                found.setdefault(setting_id, {})[node] = runs
        return found

    def circumstances(self, campaign_id: int, setting_id: int) -> list[Circumstance]:
        """The setting's valid runs in order of start."""
        with self._database.reading() as connection:
            rows = connection.execute(_CIRCUMSTANCES, {"campaign": campaign_id, "setting": setting_id})
            return [_circumstance(dict(row)) for row in rows.mappings()]

    def engines(self, campaign_id: int) -> list[EngineUse]:
        """What its valid runs were measured with."""
        with self._database.reading() as connection:
            _check(connection, campaign_id)
            rows = connection.execute(_ENGINES, {"campaign": campaign_id})
            return [EngineUse(**row) for row in rows.mappings()]

    def run(self, campaign_id: int, run_id: UUID) -> RunPage:
        """One run with all that was told and observed."""
        with self._database.reading() as connection:
            _check(connection, campaign_id)
            row = connection.execute(_RUN, {"campaign": campaign_id, "run": run_id}).mappings().one_or_none()
        if row is None:
            raise NotFoundError(no_run(campaign_id, run_id))
        values: dict[str, Any] = dict(row)
        told = _told(values.pop("packed"), values["sequence"])
        lists = {"modes": tuple(values["modes"]), "values": tuple(values["values"])}
        return RunPage(**{**values, **lists}, details=told.get("details", {}), observed=told.get("observed", {}))


def _check(connection: Connection, campaign_id: int) -> None:
    """Raise NotFoundError or, for a campaign whose rows are elsewhere, ConflictError."""
    row = connection.execute(select(CampaignRow.archive).where(CampaignRow.id == campaign_id)).one_or_none()
    if row is None:
        raise NotFoundError(no_campaign(campaign_id))
    refuse_archived(campaign_id, row.archive)


def _outcomes(
    setting_id: int, levels: list[Level], modes: list[str], analysed: list[str], *columns: list[Any]
) -> Iterator[Outcome]:
    found = dict(zip(analysed, zip(*columns, strict=True), strict=True))
    for mode in modes:
        verdict, components, variation, median = found.get(mode, (None, None, None, None))
        yield Outcome(
            setting_id=setting_id, levels=tuple(levels), mode=mode, verdict=verdict, components=components,
            variation=variation, median=median,
        )  # fmt: skip


def _summary(counts: Any, sums: Any) -> Summary:
    families: Counter[str] = Counter()
    components: Counter[int] = Counter()
    verdicts: Counter[str] = Counter()
    for family, count, verdict, configurations in counts:
        families[family] += configurations
        components[count] += configurations
        verdicts[verdict] += configurations
    return Summary(
        analysed=families.total(),
        families=tuple(
            FamilySummary(family=family, bic_sum=bic_sum, fitted=fitted, best=families[family])
            for family, bic_sum, fitted in sums
        ),
        components=dict(sorted(components.items())),
        verdicts=dict(verdicts.most_common()),
    )


def _circumstance(columns: dict[str, Any]) -> Circumstance:
    levels = columns.pop("previous_levels")
    values = dict(zip(columns.pop("modes"), columns.pop("values"), strict=True))
    return Circumstance(**columns, values=values, previous_levels=None if levels is None else tuple(levels))


def _told(packed: bytes | None, sequence: int) -> dict[str, Any]:
    records = unpack(packed) if packed is not None else []
    return next((record for record in records if record["sequence"] == sequence), {})
