"""PostgreSQL stops, stands still, is full, is away; and comes back from a backup."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

import psycopg

from orchestrator.embedded import postgres, postgres_programs
from tests.faults.fault import Fault
from tests.faults.stage import Stage, Strike

KNOWN = """
    SELECT r.id, r.validity, r."values"::text
    FROM runs AS r JOIN settings AS t ON t.id = r.setting_id WHERE t.campaign_id = %s
"""
AWAY_S = 600.0
FROZEN_S = 60.0
FULL_S = 20.0


class _StopsPostgres(Fault):
    number = signal.SIGINT
    away_s = 3.0

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.system.kill("postgres", self.number)
        stage.hold(self.away_s)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.start("postgres")
        stage.wait("the database", lambda: postgres.ready(stage.system.cluster))


class PostgresStoppedFast(_StopsPostgres):
    """Sessions are ended, data is written out."""

    name = "postgres stopped fast"


class PostgresStoppedImmediately(_StopsPostgres):
    """SIGQUIT: it recovers from its log when it returns."""

    name = "postgres stopped immediate"
    number = signal.SIGQUIT


class PostgresRestarted(_StopsPostgres):
    """Fast, and back at once."""

    name = "postgres restarted"
    away_s = 0.0
    strikes = 4


class PostgresKilled(_StopsPostgres):
    """SIGKILL to the server."""

    name = "postgres killed"
    number = signal.SIGKILL


class PostgresAway(_StopsPostgres):
    """Ten minutes."""

    name = "postgres away ten minutes"
    away_s = AWAY_S
    strikes = 1


class PostgresFrozen(Fault):
    """SIGSTOP to all its processes, for a minute."""

    name = "postgres frozen"
    strikes = 1

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.system.tell("postgres", signal.SIGSTOP)
        stage.hold(FROZEN_S)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.tell("postgres", signal.SIGCONT)


class PostgresFull(Fault):
    """Somebody else holds every connection there is."""

    name = "postgres out of connections"

    def inject(self, stage: Stage, strike: Strike) -> None:
        held: list[psycopg.Connection] = []
        try:
            for _ in range(int(FULL_S * stage.scale * 10)):
                with suppress(psycopg.OperationalError):  # until there is none left; and whenever one is given back
                    while True:
                        held.append(psycopg.connect(stage.ledger.url, connect_timeout=5))
                stage.hold(0.1 / stage.scale)
        finally:
            for connection in held:
                connection.close()


class Restored(Fault):
    """pg_dump in mid-campaign; the campaign goes on; then everything moves to what was restored from the dump."""

    name = "pg_dump restored elsewhere"
    strikes = 1

    def inject(self, stage: Stage, strike: Strike) -> None:
        dump = stage.system.folder / "dump.sql"
        stage.notes["before"] = stage.ledger.ask(KNOWN, stage.campaign)  # first: runs come in while the dump is made
        _program("pg_dump", "--file", str(dump), "--dbname", stage.ledger.url)
        enough = min(1.0, stage.ledger.share_done(stage.campaign) + 0.15)
        stage.wait("the campaign has gone on", lambda: stage.ledger.share_done(stage.campaign) >= enough)
        how = stage.rng.choice([signal.SIGKILL, signal.SIGTERM])
        for name in stage.system.ours:
            stage.system.kill(name, how)
        name = f"restored_{stage.first_step}"
        postgres.create_database(stage.system.cluster, name)
        _program(
            "psql",
            "--quiet",
            "--set",
            "ON_ERROR_STOP=1",
            "--file",
            str(dump),
            "--dbname",
            stage.system.cluster.url(name),
        )
        dump.unlink()
        stage.system.use_database(name)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.start_all()

    def complaints(self, stage: Stage) -> list[str]:
        now = set(stage.ledger.ask(KNOWN, stage.campaign))
        gone = [run for run in stage.notes["before"] if run not in now]
        return [f"{len(gone)} runs of the dump are gone"] * bool(gone)


def _program(name: str, *words: str) -> None:
    """One of PostgreSQL's own."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    subprocess.run(
        [postgres_programs.installed() / name, *words], check=True, env=environment, stdout=subprocess.DEVNULL
    )
