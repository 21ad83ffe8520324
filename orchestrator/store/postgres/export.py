"""What a campaign measured and found, read out in the order of its design."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, text

from orchestrator.contracts.campaigns import WARM_UP, Configuration, ExportRow
from orchestrator.contracts.confirmations import Confirmation
from orchestrator.contracts.findings import ConfigurationPage, MeasuredRun
from orchestrator.store.rules import as_number

_CONFIGURATIONS = """
    SELECT t.campaign_id, t.id AS setting_id, t.ordinal, t.levels, m.mode, t.control, t.valid_runs,
           a.verdict, a.sentence, coalesce(a.final, false) AS final, a.components, a.family, a.bic,
           a.density_modes, a.bic_gap, a.dip_p, a.dip_q, a.error,
           a.median, a.variation, a.confirmation, a.needed_runs,
           coalesce(t.replicates, (SELECT replicates FROM campaigns WHERE id = :campaign)) AS replicates
           {more}
    FROM {settings} AS t
    CROSS JOIN LATERAL unnest(t.modes) WITH ORDINALITY AS m (mode, place)
    LEFT JOIN analyses AS a ON a.setting_id = t.id AND a.mode = m.mode AND a.current
    WHERE t.campaign_id = :campaign
      AND {which}
    ORDER BY t.ordinal, m.place
"""
# Every setting has a configuration: without a filter, a page's settings are at most as many as its configurations.
_OF_PAGE = """(
        SELECT * FROM settings WHERE campaign_id = :campaign AND ordinal >= :ordinal ORDER BY ordinal
        LIMIT CASE WHEN num_nulls(CAST(:verdict AS text), CAST(:mode AS text)) = 2
                    AND cardinality(CAST(:places AS integer[])) = 0 THEN CAST(:limit AS bigint) + 1 END)"""
_LIST = text(
    _CONFIGURATIONS.format(
        more="",
        settings=_OF_PAGE,
        which="""(CAST(:verdict AS text) IS NULL OR a.verdict = :verdict)
      AND (CAST(:mode AS text) IS NULL OR m.mode = :mode)
      AND (t.ordinal > :ordinal OR m.place > array_position(t.modes, CAST(:behind AS text)))
      AND NOT EXISTS (
          SELECT FROM unnest(CAST(:places AS integer[]), CAST(:texts AS text[]), CAST(:numbers AS float8[]))
              AS f (place, wanted, number)
          WHERE (t.levels ->> f.place = f.wanted OR t.levels -> f.place = to_jsonb(f.number)) IS NOT TRUE)""",
    )
    + "LIMIT :limit"
)
_ONE = text(
    _CONFIGURATIONS.format(more=", a.selection", settings="settings", which="t.id = :setting AND m.mode = :mode")
)
# The number of the transaction that last wrote a counter changes with it, and does not come again.
_VERSION = text("""
    SELECT c.state || c.xmin || '-'
        || coalesce((SELECT string_agg(xmin::text, '.' ORDER BY node_id) FROM shares WHERE campaign_id = c.id), '')
        || '-' || coalesce((SELECT string_agg(xmin::text, '.' ORDER BY state, verdict, final, slot) FROM analysis_counts
                     WHERE campaign_id = c.id), '')
    FROM campaigns AS c WHERE c.id = :campaign
""")
_SETTINGS = text("SELECT id, levels, control FROM settings WHERE campaign_id = :campaign ORDER BY ordinal")
SETTINGS_AT_ONCE = 10
"""Sorted as a whole, a million runs would keep their reader waiting for minutes, and fill a disk meanwhile."""
# Each of the two indexes on runs by setting holds some of them; both conditions together are all runs.
_RUNS = text("""
    SELECT t.id, m.mode, r.replicate, m.value, n.name AS node, j.id AS job, j.block, j.position,
           extract(epoch FROM r.started_at)::float8 AS started_at, r.validity AS valid,
           CASE WHEN r.validity = 'valid' AND r.place <= coalesce((c.analysis_options ->> 'discard')::integer, 0)
                THEN :warm_up ELSE nullif(r.reason, '') END AS reason
    FROM settings AS t JOIN campaigns AS c ON c.id = t.campaign_id
    CROSS JOIN LATERAL (
        SELECT *, row_number() OVER (PARTITION BY job_id ORDER BY started_at, replicate) AS place
        FROM runs WHERE setting_id = t.id AND validity = 'valid'
        UNION ALL SELECT *, NULL FROM runs WHERE setting_id = t.id AND validity <> 'valid') AS r
    JOIN jobs AS j ON j.id = r.job_id
    JOIN sessions AS s ON s.id = r.session_id
    JOIN nodes AS n ON n.id = s.node_id
    CROSS JOIN LATERAL ROWS FROM (unnest(t.modes), unnest(r."values")) WITH ORDINALITY AS m (mode, value, place)
    WHERE t.id = ANY (:settings)
    ORDER BY t.ordinal, r.replicate, r.started_at, r.id, m.place
""")
_RUNS_OF_ONE = text("""
    SELECT r.id, r.replicate, r."values"[array_position(t.modes, :mode)] AS value, n.name AS node, j.position, j.round,
           extract(epoch FROM j.start_at)::float8 AS start_at,
           extract(epoch FROM r.started_at)::float8 AS started_at, r.elapsed_s, r.validity,
           nullif(r.reason, '') AS reason,
           coalesce(r.place <= coalesce((c.analysis_options ->> 'discard')::integer, 0), false) AS warm_up
    FROM (SELECT *, row_number() OVER (PARTITION BY job_id ORDER BY started_at, replicate) AS place
          FROM runs WHERE setting_id = :setting AND validity = 'valid'
          UNION ALL SELECT *, NULL FROM runs WHERE setting_id = :setting AND validity <> 'valid') AS r
    JOIN settings AS t ON t.id = r.setting_id
    JOIN campaigns AS c ON c.id = t.campaign_id
    JOIN jobs AS j ON j.id = r.job_id
    JOIN sessions AS s ON s.id = r.session_id
    JOIN nodes AS n ON n.id = s.node_id
    ORDER BY r.started_at, r.id
""")
_REPEATS = text(
    _CONFIGURATIONS.format(
        more="",
        settings="settings",
        which="""m.mode = :mode AND (t.levels, coalesce(t.control, '')) = (
        SELECT o.levels, coalesce(o.control, '') FROM settings AS o WHERE o.id = :setting)""",
    )
)
_RELATED = text("""
    SELECT c.id FROM campaigns AS c JOIN campaigns AS me ON me.id = :campaign
    WHERE c.parent_id = me.id OR c.id = me.parent_id ORDER BY c.id
""")
_REASONS = text("""
    SELECT coalesce(nullif(r.reason, ''), 'unknown') AS reason, count(*) AS runs
    FROM settings AS t JOIN runs AS r ON r.setting_id = t.id AND r.validity <> 'valid'
    WHERE t.campaign_id = :campaign AND r.validity = 'invalid' GROUP BY 1 ORDER BY 2 DESC, 1
""")


def configurations(
    connection: Connection,
    campaign_id: int,
    *,
    verdict: str | None,
    mode: str | None,
    wanted: Mapping[int, str],
    after: tuple[int, str] | None,
    limit: int | None,
) -> list[Configuration]:
    """Every configuration that passes the filters, with the current analysis where there is one."""
    ordinal, behind = after or (-1, None)
    named = {
        "campaign": campaign_id,
        "verdict": verdict,
        "mode": mode,
        "ordinal": ordinal,
        "behind": behind,
        "places": list(wanted),
        "texts": list(wanted.values()),
        "numbers": [as_number(level) for level in wanted.values()],
        "limit": limit,
    }
    rows = connection.execute(_LIST, named)
    return [_configuration(dict(row._mapping)) for row in rows]


def version(connection: Connection, campaign_id: int) -> str | None:
    """What changes with the counters; None when there is no such campaign."""
    found: str | None = connection.execute(_VERSION, {"campaign": campaign_id}).scalar_one_or_none()
    return None if found is None else hashlib.sha256(found.encode()).hexdigest()[:16]


def page(connection: Connection, campaign_id: int, setting_id: int, mode: str) -> ConfigurationPage | None:
    """One configuration with its fit and its runs; None when the design does not have it."""
    named = {"campaign": campaign_id, "setting": setting_id, "mode": mode}
    found = connection.execute(_ONE, named).mappings().one_or_none()
    if found is None:
        return None
    values = dict(found)
    selection = values.pop("selection")
    runs = tuple(MeasuredRun(**row._mapping) for row in connection.execute(_RUNS_OF_ONE, named))
    return ConfigurationPage(configuration=_configuration(values), selection=selection, runs=runs)


def repeats(connection: Connection, campaign_id: int, setting_id: int, mode: str) -> list[Configuration]:
    """The same configuration in the campaign that this one re-runs, and in its re-runs; the oldest first."""
    related = connection.execute(_RELATED, {"campaign": campaign_id}).scalars().all()
    return [
        _configuration(dict(row._mapping))
        for other in related
        for row in connection.execute(_REPEATS, {"campaign": other, "setting": setting_id, "mode": mode})
    ]


def _configuration(columns: Mapping[str, Any]) -> Configuration:
    kept = columns["confirmation"]
    confirmation = None if kept is None else Confirmation.from_dict(kept)
    return Configuration(**{**columns, "levels": tuple(columns["levels"]), "confirmation": confirmation})


def rows(connection: Connection, campaign_id: int) -> Iterator[ExportRow]:
    """Every run of one moment, a row per mode; a failed run has no value. To be the first that is asked here."""
    connection = connection.execution_options(isolation_level="REPEATABLE READ")
    found = connection.execute(_SETTINGS, {"campaign": campaign_id}).all()
    settings = {setting_id: (tuple(levels), control) for setting_id, levels, control in found}
    ids = list(settings)
    for first in range(0, len(ids), SETTINGS_AT_ONCE):
        # Unpacked: by the names of its columns a row takes twice as long, and there may be millions.
        some = ids[first : first + SETTINGS_AT_ONCE]
        for setting, *told, valid, reason in connection.execute(_RUNS, {"settings": some, "warm_up": WARM_UP}):
            mode, replicate, value, node, job, block, position, started_at = told
            levels, control = settings[setting]
            yield ExportRow(
                levels=levels, control=control, mode=mode, replicate=replicate, value=value, node=node, job=job,
                block=block, position=position, started_at=started_at, valid=valid, reason=reason,
            )  # fmt: skip


def invalid_reasons(connection: Connection, campaign_id: int) -> dict[str, int]:
    """Reason -> number of invalid runs, most frequent first."""
    return {row.reason: row.runs for row in connection.execute(_REASONS, {"campaign": campaign_id})}
