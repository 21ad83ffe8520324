"""What rates are learned from, and what was learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import text

from orchestrator.contracts.rates import Completion, Forecast, FoundRate, InHand, NodeRate, OpenWork
from orchestrator.store.postgres.connection import Database
from orchestrator.store.rules import FORECAST_LASTS_S

_COMPLETIONS = text("SELECT * FROM completions(:campaign, :after, :jobs)")
_WAITING = text("""
    SELECT coalesce(array_agg(t.ordinal ORDER BY j.position), '{}') AS settings,
           coalesce(array_agg(j.first_replicate ORDER BY j.position), '{}') AS first_replicates,
           coalesce(array_agg(j.replicates ORDER BY j.position), '{}') AS replicates
    FROM jobs AS j JOIN settings AS t ON t.id = j.setting_id
    WHERE j.campaign_id = :campaign AND j.state IN ('queued', 'offered')
""")
_IN_HAND = text("""
    SELECT n.name AS node, t.ordinal AS setting, j.replicates - (
        SELECT count(*) FROM runs AS r WHERE r.setting_id = j.setting_id AND r.validity = 'valid'
        AND r.replicate >= j.first_replicate AND r.replicate < j.first_replicate + j.replicates)::integer AS missing
    FROM jobs AS j JOIN settings AS t ON t.id = j.setting_id JOIN nodes AS n ON n.id = j.node_id
    WHERE j.campaign_id = :campaign AND j.state = 'leased' ORDER BY n.name
""")
_ABLE = text("""
    SELECT n.name FROM campaigns AS c, node_status AS n
    WHERE c.id = :campaign AND n.online AND n.state = 'ready'
      AND (c.engine = 'replay' OR jsonb_exists(n.engines, c.engine))
      AND (c.placement NOT IN ('pinned', 'lockstep') OR EXISTS (
          SELECT FROM campaign_nodes AS m WHERE m.campaign_id = c.id AND m.node_id = n.id))
    ORDER BY n.name
""")
_NOW = text("""
    SELECT extract(epoch FROM clock_timestamp())::float8 AS now,
           coalesce(extract(epoch FROM clock_timestamp() - first_claim_at), 0)::float8 AS elapsed_s
    FROM campaigns WHERE id = :campaign
""")
_KEEP_RATE = text("""
    SELECT keep_rate(:campaign, :node, :runs_per_s, :low_per_s, :high_per_s, :runs, :since, :change)
""")
_KEEP_FORECAST = text("""
    INSERT INTO forecasts (campaign_id, at, runs_per_s, low_per_s, high_per_s,
                           time_left_s, time_left_low_s, time_left_high_s, nodes, reason)
    VALUES (:campaign, clock_timestamp(), :runs_per_s, :low_per_s, :high_per_s,
            :time_left_s, :time_left_low_s, :time_left_high_s, :nodes, :reason)
    ON CONFLICT (campaign_id) DO UPDATE
    SET at = EXCLUDED.at, runs_per_s = EXCLUDED.runs_per_s, low_per_s = EXCLUDED.low_per_s,
        high_per_s = EXCLUDED.high_per_s, time_left_s = EXCLUDED.time_left_s,
        time_left_low_s = EXCLUDED.time_left_low_s, time_left_high_s = EXCLUDED.time_left_high_s,
        nodes = EXCLUDED.nodes, reason = EXCLUDED.reason
""")
_RATES = """
    SELECT n.name AS node, k.campaign_id, k.runs_per_s, k.low_per_s, k.high_per_s, k.runs,
           extract(epoch FROM k.since)::float8 AS since, extract(epoch FROM k.at)::float8 AS at
    FROM {rows} AS k JOIN nodes AS n ON n.id = k.node_id ORDER BY n.name
"""
_OF_CAMPAIGN = text(_RATES.format(rows="(SELECT * FROM node_rates WHERE campaign_id = :campaign)"))
_LATEST = text(
    _RATES.format(
        rows="""(SELECT r.* FROM nodes AS m CROSS JOIN LATERAL (
            SELECT * FROM node_rates AS k WHERE k.node_id = m.id ORDER BY k.at DESC LIMIT 1) AS r)"""
    )
)
_FORECASTS = """
    SELECT f.{columns} FROM forecasts AS f JOIN campaigns AS c ON c.id = f.campaign_id
    WHERE f.at > clock_timestamp() - make_interval(secs => :lasts_s) AND {which}
"""
_COLUMNS = tuple(column.name for column in fields(Forecast))
_FORECAST = text(_FORECASTS.format(columns=", f.".join(_COLUMNS), which="c.id = :campaign"))
_OPEN = text(_FORECASTS.format(columns=", f.".join(("campaign_id", *_COLUMNS)), which="c.ended_at IS NULL"))


class PostgresRates:
    """See `ports.Rates`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def completions(self, campaign_id: int, *, after: float = 0.0, jobs: int = 2000) -> list[Completion]:
        """Runs of jobs done lately or in hand."""
        named = {"campaign": campaign_id, "after": after, "jobs": jobs}
        with self._database.reading() as connection:
            return [Completion(**row._mapping) for row in connection.execute(_COMPLETIONS, named)]

    def open_work(self, campaign_id: int) -> OpenWork:
        """Jobs that wait, jobs in hand, nodes that work."""
        named = {"campaign": campaign_id}
        with self._database.reading() as connection:
            waiting = connection.execute(_WAITING, named).one()
            times = connection.execute(_NOW, named).one()
            return OpenWork(
                settings=waiting.settings,
                first_replicates=waiting.first_replicates,
                replicates=waiting.replicates,
                in_hand=[InHand(**row._mapping) for row in connection.execute(_IN_HAND, named)],
                nodes=list(connection.execute(_ABLE, named).scalars()),
                now=times.now,
                elapsed_s=times.elapsed_s,
            )

    def keep(self, campaign_id: int, forecast: Forecast, rates: Sequence[FoundRate]) -> list[str]:
        """What was found; told are the changes that are new."""
        in_order = sorted(rates, key=lambda found: found.node)  # one order for all controllers
        with self._database.writing() as connection:
            connection.execute(_KEEP_FORECAST, {"campaign": campaign_id, **asdict(forecast)})
            return [
                rate.change or ""
                for rate in in_order
                if connection.execute(_KEEP_RATE, {"campaign": campaign_id, **asdict(rate)}).scalar_one()
            ]

    def of_campaign(self, campaign_id: int) -> list[NodeRate]:
        """By node."""
        with self._database.reading() as connection:
            return _rates(connection.execute(_OF_CAMPAIGN, {"campaign": campaign_id}))

    def of_nodes(self) -> list[NodeRate]:
        """The latest of each node."""
        with self._database.reading() as connection:
            return _rates(connection.execute(_LATEST))

    def forecast(self, campaign_id: int) -> Forecast | None:
        """The last one, unless it is old."""
        named = {"campaign": campaign_id, "lasts_s": FORECAST_LASTS_S}
        with self._database.reading() as connection:
            row = connection.execute(_FORECAST, named).one_or_none()
        return told(None if row is None else row._asdict())

    def forecasts(self) -> dict[int, Forecast]:
        """The last ones of open campaigns, unless they are old."""
        with self._database.reading() as connection:
            rows = connection.execute(_OPEN, {"lasts_s": FORECAST_LASTS_S})
            return {row.campaign_id: _forecast(row._asdict()) for row in rows}


def told(row: Mapping[str, Any] | None) -> Forecast | None:
    """What the controller told last, unless it has been silent since: a row of `forecasts` as a value."""
    return None if row is None else _forecast(row)


def _forecast(row: Mapping[str, Any]) -> Forecast:
    return Forecast(**{name: row[name] for name in _COLUMNS})


def _rates(rows: Any) -> list[NodeRate]:
    return [NodeRate(**row._mapping) for row in rows]
