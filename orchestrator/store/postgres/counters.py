"""The kept counters, compared with what they count, and put right. An operator's act on one database, not a port."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, text

from orchestrator.store.postgres.connection import Database

_RUNS = """
    SELECT t.campaign_id, s.node_id, count(*) AS n
    FROM runs AS r JOIN settings AS t ON t.id = r.setting_id JOIN sessions AS s ON s.id = r.session_id
    WHERE r.validity = '{}' GROUP BY 1, 2
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A counter that is not what it counts."""

    counter: str
    about: str
    """Which row of it: `campaign 3, state done`."""
    kept: int
    counted: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Counter:
    table: str
    keys: tuple[str, ...]
    value: str
    counted: str
    """SQL: the keys, and the true count as `n`."""
    row: tuple[str, ...] = ()
    """What names a row where the keys alone do not: what it counts is the sum of such rows."""

    @property
    def differences(self) -> str:
        """One statement, and so one moment: rows and counters change in the same transactions."""
        return f"""
            SELECT {", ".join(self.keys)}, coalesce(k.{self.value}, 0) AS kept, coalesce(c.n, 0) AS counted
            FROM (SELECT {", ".join(self.keys)}, sum({self.value})::bigint AS {self.value} FROM {self.table}
                  GROUP BY {", ".join(self.keys)}) AS k
            FULL JOIN ({self.counted}) AS c USING ({", ".join(self.keys)})
            WHERE coalesce(k.{self.value}, 0) <> coalesce(c.n, 0)
              AND campaign_id NOT IN (SELECT id FROM campaigns WHERE archive IS NOT NULL)
            ORDER BY {", ".join(self.keys)}
        """  # noqa: S608 - as all SQL here, our own words

    @property
    def repair(self) -> str:
        """Whoever counts waits for this lock before it adds to what is now right."""
        keys = ", ".join(self.keys)
        if self.table == "settings":
            return f"UPDATE settings AS t SET valid_runs = d.counted FROM ({self.differences}) AS d WHERE t.id = d.id"  # noqa: S608
        return f"""
            INSERT INTO {self.table} AS t ({keys}, {self.value})
            SELECT {keys}, counted - kept FROM ({self.differences}) AS d
            ON CONFLICT ({", ".join(self.keys + self.row)}) DO UPDATE
            SET {self.value} = t.{self.value} + EXCLUDED.{self.value}
        """  # noqa: S608


_COUNTERS = (
    _Counter(
        table="job_counts",
        keys=("campaign_id", "state"),
        value="jobs",
        row=("slot",),
        counted="SELECT campaign_id, state, count(*) AS n FROM jobs GROUP BY 1, 2",
    ),
    *(
        _Counter(table="shares", keys=("campaign_id", "node_id"), value=validity, counted=_RUNS.format(validity))
        for validity in ("valid", "invalid", "superseded")
    ),
    _Counter(
        table="analysis_counts",
        keys=("campaign_id", "state", "verdict", "final"),
        value="analyses",
        row=("slot",),
        counted="SELECT campaign_id, state, coalesce(verdict, '') AS verdict, final, count(*) AS n "
        "FROM analyses WHERE current GROUP BY 1, 2, 3, 4",
    ),
    _Counter(
        table="settings",
        keys=("campaign_id", "id"),
        value="valid_runs",
        counted="SELECT t.campaign_id, t.id, count(*) AS n FROM runs AS r JOIN settings AS t ON t.id = r.setting_id "
        "WHERE r.validity = 'valid' GROUP BY 1, 2",
    ),
)


def differences(database_url: str) -> list[Difference]:
    """Recount everything: reads every run once, and nobody waits for it. Raises UnavailableError."""
    with Database(database_url).reading() as connection:
        return [found for counter in _COUNTERS for found in _differences(connection, counter)]


def repair(database_url: str) -> list[Difference]:
    """Set what is wrong to what was counted; what was put right. Whoever counts waits meanwhile."""
    repaired: list[Difference] = []
    for counter in _COUNTERS:
        with Database(database_url).writing() as connection:
            connection.execute(text("SET LOCAL lock_timeout = '5s'"))
            connection.execute(text(f"LOCK TABLE {counter.table} IN SHARE ROW EXCLUSIVE MODE"))
            repaired += _differences(connection, counter)
            connection.execute(text(counter.repair))
    return repaired


def _differences(connection: Connection, counter: _Counter) -> list[Difference]:
    rows = connection.execute(text(counter.differences)).mappings().all()
    names = {"campaign_id": "campaign", "node_id": "node", "id": "setting"}
    return [
        Difference(
            counter=f"{counter.table}.{counter.value}",
            about=", ".join(f"{names.get(key, key)} {row[key]}" for key in counter.keys),
            kept=row["kept"],
            counted=row["counted"],
        )
        for row in rows
    ]
