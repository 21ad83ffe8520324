"""What the ledger costs, each cost beside its physical neighbour in the same run.

    python -m tests.benchmarks.bench_ledger [--only submit,ingest,growth] [--quick]

submit: the published study at 150 replicates, planned and stored, beside a bare COPY of the same rows.
ingest: `record` beside a bare COPY of the same rows into tables with the same keys, in the same batches, taking turns.
growth: over four sizes of ledger, progress and one configuration's page as an API process reads them, bytes on disk,
and ingest again. Prints a table, and the same as JSON in its last line. A quarter of an hour, or a minute with --quick.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import click
import psycopg
from psycopg import sql

from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.runs import Run
from orchestrator.embedded.postgres import Cluster
from orchestrator.store.postgres import PostgresStore
from tests.benchmarks import bars, ledgers
from tests.benchmarks.bars import Line
from tests.benchmarks.servers import migrated_database, private_postgres

REPLICATES = 150
CALLS = 200
"""Of which the 99th percentile is the second longest."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How much is measured."""

    quick: bool

    @property
    def sizes(self) -> dict[int, tuple[int, ...]]:
        """Replicates -> how many campaigns of so many: 0.45, 3.4, 10 and 34 million measurements."""
        return {5: (1,), 10: (1, 2)} if self.quick else {20: (1,), REPLICATES: (1, 3, 10)}


def submit(cluster: Cluster, setting: Setting) -> Iterator[Line]:
    """From a study to stored settings and jobs."""
    replicates = 10 if setting.quick else REPLICATES
    ledgers.xu2020(1)  # whoever takes in studies has loaded what reads them
    with migrated_database(cluster) as url:
        store = PostgresStore(url, keep=1)
        begin = time.perf_counter()
        submission = ledgers.xu2020(replicates)
        planned_s = time.perf_counter() - begin
        campaign, _ = store.campaigns.submit(submission)
        whole_s = time.perf_counter() - begin
        copied_s = _copied_again(url, campaign.id)
        store.close()
    jobs = len(submission.jobs)
    yield Line(
        what=f"xu2020 x {replicates}: {jobs:,} jobs planned ({planned_s:.2f} s) and stored, s",
        bar="<= 10",
        measured=f"{whole_s:.2f}",
        met=whole_s <= 10,
    )
    ratio = whole_s / copied_s
    yield Line(what="the same / a bare COPY of its rows", bar="<= 3", measured=f"{ratio:.2f}", met=ratio <= 3)
    stored = (whole_s - planned_s) / copied_s
    yield Line(what="storing alone / a bare COPY of its rows", bar="-", measured=f"{stored:.2f}", met=None)


def _copied_again(url: str, campaign_id: int) -> float:
    """Seconds to COPY the settings and jobs of a campaign, as text, into tables with the same keys."""
    with psycopg.connect(url) as connection:
        tables = {
            table: _copied_out(connection, table, "campaign_id = %s", [campaign_id]) for table in ("settings", "jobs")
        }
        for table in tables:
            _make_twin(connection, table)
        connection.commit()
        begin = time.perf_counter()
        for table, rows in tables.items():
            _copy_in(connection, f"bare_{table}", rows)
        connection.commit()
        return time.perf_counter() - begin


def ingest(cluster: Cluster, setting: Setting) -> Iterator[Line]:
    """`record` and COPY by turns, a batch each."""
    submission = ledgers.xu2020(10 if setting.quick else REPLICATES)
    for with_telemetry in (False, True):
        for batch, batches in ((10, 60), (1500, 2)) if setting.quick else ((10, 600), (1500, 20)):
            with migrated_database(cluster) as url:
                yield _ingested(url, submission, batch, batches, with_telemetry=with_telemetry)


def _ingested(url: str, submission: Submission, batch: int, batches: int, *, with_telemetry: bool) -> Line:
    store = PostgresStore(url, keep=1)
    session = ledgers.with_nodes(store)[0]
    campaign, _ = store.campaigns.submit(submission)
    with psycopg.connect(url) as connection:  # as while an agent holds a job: its runs do not end it
        connection.execute("UPDATE jobs SET state = 'done'")
    ledgers.settle(url)
    runs = ledgers.runs_of(url, campaign.id, session, batch * (batches + 1), with_telemetry=with_telemetry)
    with psycopg.connect(url) as connection:
        for table in ("runs", "telemetry"):
            _make_twin(connection, table)
        connection.commit()
        pairs = [_by_turns(store, connection, runs[start : start + batch]) for start in range(0, len(runs), batch)]
    store.close()
    recorded_s, copied_s, recorded_cpu_s, copied_cpu_s = (sum(times) for times in zip(*pairs[1:], strict=True))
    rate = batch * batches / recorded_s
    told = "with IOzone's telemetry" if with_telemetry else "as `replay` makes them"
    return Line(
        what=f"ingest of {batch} runs a batch, {told}: {rate:,.0f} runs/s; COPY / record",
        bar=">= 0.33",
        measured=f"{copied_s / recorded_s:.2f} (in CPU time {copied_cpu_s / recorded_cpu_s:.2f})",
        met=copied_s / recorded_s >= 1 / 3,
    )


def _by_turns(
    store: PostgresStore, connection: psycopg.Connection, runs: Sequence[Run]
) -> tuple[float, float, float, float]:
    """Seconds for `record` of a batch, and for COPY of the rows that came of it, each with its commit.

    Then the same in CPU time of this process and the server's: what a busy machine changes less.
    """
    recording = _backend(store)
    busy, begin = _cpu_s(recording), time.perf_counter()
    receipt = store.runs.record(runs)
    recorded_s, recorded_cpu_s = time.perf_counter() - begin, _cpu_s(recording) - busy
    assert len(receipt.valid) == len(runs)
    ids = [run.id for run in runs]
    rows = _copied_out(connection, "runs", "id = ANY (%s)", [ids])
    told = _copied_out(connection, "telemetry", "id IN (SELECT telemetry_id FROM runs WHERE id = ANY (%s))", [ids])
    connection.commit()
    copying = connection.info.backend_pid
    busy, begin = _cpu_s(copying), time.perf_counter()
    _copy_in(connection, "bare_runs", rows)
    if told:
        _copy_in(connection, "bare_telemetry", told)
    connection.commit()
    return recorded_s, time.perf_counter() - begin, recorded_cpu_s, _cpu_s(copying) - busy


def _backend(store: PostgresStore) -> int:
    """The server's process behind the store's one kept connection."""
    with store._database.calling() as connection:
        return int(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())


def _cpu_s(backend: int) -> float:
    spent_ns = int(Path(f"/proc/{backend}/schedstat").read_text().split()[0])
    return spent_ns / 1e9 + time.process_time()


def growth(cluster: Cluster, setting: Setting) -> Iterator[Line]:
    """The same questions to ledgers of four sizes."""
    for replicates, sizes in setting.sizes.items():
        submission = ledgers.xu2020(replicates)
        with migrated_database(cluster) as url:
            store = PostgresStore(url, keep=1)
            sessions = ledgers.with_nodes(store)
            filled: list[int] = []
            for campaigns in sizes:
                while len(filled) < campaigns:
                    campaign, _ = store.campaigns.submit(submission)
                    ledgers.fill(url, campaign.id, replicates)
                    filled.append(campaign.id)
                ledgers.settle(url)
                yield from _costs(url, store, filled, sessions[0])
            store.close()


def _costs(url: str, store: PostgresStore, campaigns: Sequence[int], session: UUID) -> Iterator[Line]:
    with psycopg.connect(url) as connection:
        query = 'SELECT sum(cardinality("values")), count(*) FROM runs'
        measurements, runs = connection.execute(query).fetchone() or (0, 0)
        sizes = "SELECT sum(pg_total_relation_size(name)) FROM unnest(ARRAY['runs', 'telemetry']::regclass[]) AS name"
        size = (connection.execute(sizes).fetchone() or (0,))[0]
    at = f"{measurements / 1e6:.2f} M measurements"
    yield Line(
        what=f"{at}: bytes a measurement on disk ({size / 2**30:.2f} GiB, {runs:,} runs)",
        bar="<= 60",
        measured=f"{size / measurements:.1f}",
        met=size / measurements <= 60,
    )
    chance = random.Random(0)
    yield _asked(store, f"{at}: progress", 20, lambda: store.campaigns.progress(chance.choice(campaigns)))
    with psycopg.connect(url) as connection:
        query = "SELECT campaign_id, id, modes[1] FROM settings WHERE campaign_id = ANY (%s) ORDER BY id"
        pages = connection.execute(query, [campaigns]).fetchall()
    yield _asked(
        store, f"{at}: one configuration's page", 50, lambda: store.campaigns.configuration(*chance.choice(pages))
    )
    yield _ingest_into(url, store, session, at)


def _ingest_into(url: str, store: PostgresStore, session: UUID, at: str) -> Line:
    """What a batch of 10 costs in a ledger of this size."""
    campaign, _ = store.campaigns.submit(ledgers.xu2020(10))
    runs = ledgers.runs_of(url, campaign.id, session, 3000, with_telemetry=True)
    batches = [runs[start : start + 10] for start in range(0, len(runs), 10)]
    begin = time.perf_counter()
    for batch in batches:
        store.runs.record(batch)
    ms = 1e3 * (time.perf_counter() - begin) / len(batches)
    with psycopg.connect(url) as connection:  # the next size is made of whole studies alone
        connection.execute(
            "DELETE FROM runs WHERE setting_id IN (SELECT id FROM settings WHERE campaign_id = %s)",
            [campaign.id],
        )
        connection.execute("DELETE FROM telemetry WHERE campaign_id = %s", [campaign.id])
    return Line(what=f"{at}: a batch of 10 runs recorded, ms", bar="-", measured=f"{ms:.2f}", met=None)


def _asked(store: PostgresStore, what: str, most_ms: float, call: Callable[[], object]) -> Line:
    """Calls one after the other; the first few, which connect and plan, are not counted."""
    for _ in range(5):
        call()
    server = _backend(store)
    busy = _cpu_s(server)
    times = sorted(_seconds(call) for _ in range(CALLS))
    cpu_ms = 1e3 * (_cpu_s(server) - busy) / CALLS
    p99_ms = 1e3 * times[int(0.99 * CALLS)]
    measured = f"{p99_ms:.1f} (median {1e3 * times[CALLS // 2]:.1f}, CPU time a call {cpu_ms:.1f})"
    return Line(what=f"{what}, p99 ms", bar=f"<= {most_ms:g}", measured=measured, met=p99_ms <= most_ms)


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _make_twin(connection: psycopg.Connection, table: str) -> None:
    """An empty table with the same columns, keys, indexes and rules."""
    twin = sql.Identifier(f"bare_{table}")
    connection.execute(sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(twin, sql.Identifier(table)))
    rules = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'f'"
    for (rule,) in connection.execute(rules, [table]).fetchall():
        connection.execute(sql.SQL("ALTER TABLE {} ADD {}").format(twin, sql.SQL(rule)))


def _copied_out(connection: psycopg.Connection, table: str, where: str, values: Sequence[object]) -> bytes:
    query = sql.SQL("COPY (SELECT * FROM {} WHERE {}) TO STDOUT").format(sql.Identifier(table), sql.SQL(where))
    with connection.cursor() as cursor, cursor.copy(query, values) as copy:
        return b"".join(bytes(part) for part in copy)


def _copy_in(connection: psycopg.Connection, table: str, rows: bytes) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))) as copy,
    ):
        copy.write(rows)


PARTS = {"submit": submit, "ingest": ingest, "growth": growth}


@click.command()
@click.option("--only", default=",".join(PARTS), help=f"Some of {', '.join(PARTS)}.")
@click.option("--quick", is_flag=True, help="A hundredth of everything: does it work?")
def main(only: str, quick: bool) -> None:
    """Measure, print a table, and the same as JSON in the last line."""
    lines: list[Line] = []
    with private_postgres(shared_buffers="512MB", max_wal_size="4GB") as cluster:
        for name in only.split(","):
            for line in PARTS[name](cluster, Setting(quick=quick)):
                lines.append(line)
                print(f"{line.what}: {line.measured} ({line.bar})", flush=True)
    bars.tell("ledger", lines)


if __name__ == "__main__":
    main()
