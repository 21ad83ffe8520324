"""What a campaign measured and found, read out in the order of its design."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, text

from orchestrator.contracts.campaigns import Configuration, ConfigurationPage, ExportRow

_CONFIGURATIONS = """
    SELECT t.campaign_id, t.id AS setting_id, t.ordinal, t.levels, m.mode, t.control, t.valid_runs,
           a.verdict, a.sentence, coalesce(a.final, false) AS final, a.components, a.family, a.bic,
           a.density_modes, a.bic_gap, a.dip_p, a.dip_q, a.error
           {more}
    FROM settings AS t
    CROSS JOIN LATERAL unnest(t.modes) WITH ORDINALITY AS m (mode, place)
    LEFT JOIN analyses AS a ON a.setting_id = t.id AND a.mode = m.mode AND a.current
    WHERE t.campaign_id = :campaign
      AND {which}
    ORDER BY t.ordinal, m.place
"""
_LIST = text(
    _CONFIGURATIONS.format(
        more="",
        which="(CAST(:verdict AS text) IS NULL OR a.verdict = :verdict)"
        " AND (CAST(:mode AS text) IS NULL OR m.mode = :mode)",
    )
)
_ONE = text(_CONFIGURATIONS.format(more=", a.selection", which="t.ordinal = :ordinal AND m.mode = :mode"))
_RUNS = """
    SELECT t.levels, t.control, m.mode, r.replicate, m.value AS throughput_kbps, n.name AS node, j.id AS job, j.block,
           j.position, extract(epoch FROM r.started_at)::float8 AS started_at, r.validity AS valid, r.reason
    FROM settings AS t
    JOIN runs AS r ON r.setting_id = t.id
    JOIN jobs AS j ON j.id = r.job_id
    JOIN sessions AS s ON s.id = r.session_id
    JOIN nodes AS n ON n.id = s.node_id
    CROSS JOIN LATERAL ROWS FROM (unnest(t.modes), unnest(r."values")) WITH ORDINALITY AS m (mode, value, place)
    WHERE t.campaign_id = :campaign {which}
    ORDER BY t.ordinal, r.replicate, r.started_at, r.id, m.place
"""
_ALL_RUNS = text(_RUNS.format(which=""))
_RUNS_OF_ONE = text(_RUNS.format(which="AND t.ordinal = :ordinal AND m.mode = :mode"))
_REASONS = text("""
    SELECT coalesce(r.reason, 'unknown') AS reason, count(*) AS runs
    FROM settings AS t JOIN runs AS r ON r.setting_id = t.id AND r.validity <> 'valid'
    WHERE t.campaign_id = :campaign AND r.validity = 'invalid' GROUP BY 1 ORDER BY 2 DESC, 1
""")


def configurations(
    connection: Connection, campaign_id: int, *, verdict: str | None, mode: str | None
) -> list[Configuration]:
    """Every configuration that passes the filters, with the current analysis where there is one."""
    rows = connection.execute(_LIST, {"campaign": campaign_id, "verdict": verdict, "mode": mode})
    return [Configuration(**{**row._mapping, "levels": tuple(row.levels)}) for row in rows]


def page(connection: Connection, campaign_id: int, ordinal: int, mode: str) -> ConfigurationPage | None:
    """One configuration with its fit and its runs; None when the design does not have it."""
    named = {"campaign": campaign_id, "ordinal": ordinal, "mode": mode}
    found = connection.execute(_ONE, named).mappings().one_or_none()
    if found is None:
        return None
    values = {**found, "levels": tuple(found["levels"])}
    selection = values.pop("selection")
    runs = tuple(_export_row(row) for row in connection.execute(_RUNS_OF_ONE, named))
    return ConfigurationPage(configuration=Configuration(**values), selection=selection, runs=runs)


def _export_row(row: Any) -> ExportRow:
    return ExportRow(**{**row._mapping, "levels": tuple(row.levels)})


def rows(connection: Connection, campaign_id: int) -> Iterator[ExportRow]:
    """Every run, a row per mode; a failed run has no value."""
    for row in connection.execute(_ALL_RUNS, {"campaign": campaign_id}):
        yield _export_row(row)


def invalid_reasons(connection: Connection, campaign_id: int) -> dict[str, int]:
    """Reason -> number of invalid runs, most frequent first."""
    return {row.reason: row.runs for row in connection.execute(_REASONS, {"campaign": campaign_id})}
