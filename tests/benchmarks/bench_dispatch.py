"""What it costs to decide which job goes to which node, with 1,000 nodes; about two minutes.

    python -m tests.benchmarks.bench_dispatch [--sizes 60000,600000] [--nodes 1000]

For each placement and number of open jobs, in a database of its own: the first pass, in which every node is idle;
passes after a tenth of the nodes has finished a job; passes after one node has; passes in which there is nothing to do;
and the controller's other questions. Beside them, in the same database, a bare `UPDATE ... FOR UPDATE SKIP LOCKED
LIMIT 1` on a table of as many rows. Prints a table, and the same as JSON in its last line.
"""

from __future__ import annotations

import signal
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
import psycopg

from orchestrator.store.postgres import PostgresStore
from tests.benchmarks import bars
from tests.benchmarks.bars import Line
from tests.benchmarks.servers import migrated_database, private_postgres

PLACEMENTS = ("any", "pinned", "balanced")
JOBS_PER_SETTING = 15
"""150 replicates, 10 to a job."""
MODES_PER_SETTING = 6
BAR_MS = 1.0
COLUMNS = ("first_pass_ms_per_job", "many_ms_per_job", "many_worst_ms_per_job", "one_ms", "bare_ms")

CAMPAIGN = """
    INSERT INTO campaigns (name, study, digest, factors, engine, engine_options, node_options, analysis_options,
        controls, placement, replicates, max_tries, setting_count, configuration_count)
    VALUES ('bench', '{}', '', '{}', 'builtin', '{}', '{}', '{}', '{}', %s, 150, 3, %s, %s) RETURNING id
"""
SETTINGS = """
    INSERT INTO settings (campaign_id, ordinal, levels, modes)
    SELECT %s, n, '[]', '{a,b,c,d,e,f}' FROM generate_series(0, %s) AS n
"""
JOBS = """
    INSERT INTO jobs (campaign_id, setting_id, block, position, first_replicate, replicates, pinned_node_id)
    SELECT %(campaign)s, t.id, b, row_number() OVER (ORDER BY b, md5(t.id::text || b)) - 1, 10 * b, 10,
           CASE WHEN %(pinned)s THEN 1 + t.ordinal %% %(nodes)s END
    FROM settings AS t, generate_series(0, %(blocks)s) AS b WHERE t.campaign_id = %(campaign)s
"""
NODES = """
    WITH made AS (
        INSERT INTO nodes (name, engines, seen_at) SELECT format('n%%s', n), '{"builtin": "1"}', clock_timestamp()
        FROM generate_series(1, %s) AS n RETURNING id
    ), sessions AS (
        INSERT INTO sessions (key, node_id, boot_id, version) SELECT gen_random_uuid(), id, 'b', '1' FROM made
        RETURNING id
    ) SELECT count(*) FROM sessions
"""
ALL_ARE_ONLINE = """
    UPDATE nodes AS n SET seen_at = clock_timestamp() + interval '1 h', session_id = s.id
    FROM sessions AS s WHERE s.node_id = n.id
"""
SOME_FINISH = """
    UPDATE jobs SET state = 'done' WHERE id IN (
        SELECT min(id) FROM jobs WHERE state = 'offered' GROUP BY node_id ORDER BY random() LIMIT %s)
"""
ANALYSES = """
    INSERT INTO analyses (campaign_id, setting_id, mode, digest, state, final)
    SELECT t.campaign_id, t.id, m, '', 'done', false FROM settings AS t, unnest(t.modes) AS m
"""
BARE_TABLE = """
    CREATE TABLE bare AS SELECT id, position, state FROM jobs;
    ALTER TABLE bare ADD PRIMARY KEY (id);
    CREATE INDEX bare_queued ON bare (position) WHERE state = 'queued';
    UPDATE bare SET state = 'queued' WHERE state <> 'queued';
"""
BARE_STEP = """
    UPDATE bare SET state = 'offered' WHERE id = (
        SELECT id FROM bare WHERE state = 'queued' ORDER BY position LIMIT 1 FOR UPDATE SKIP LOCKED)
"""


def ms(act: Callable[[], Any]) -> tuple[float, Any]:
    """How long it took, and what it returned."""
    begin = time.perf_counter()
    answer = act()
    return 1000 * (time.perf_counter() - begin), answer


@contextmanager
def ledger(url: str, placement: str, size: int, nodes: int) -> Iterator[tuple[PostgresStore, psycopg.Connection[Any]]]:
    """A store with one campaign of `size` open jobs, and a connection behind its back."""
    settings = size // JOBS_PER_SETTING
    with psycopg.connect(url, autocommit=True) as behind:
        behind.execute(NODES, [nodes])
        row = behind.execute(CAMPAIGN, [placement, settings, settings * MODES_PER_SETTING]).fetchone()
        assert row is not None
        behind.execute(SETTINGS, [row[0], settings - 1])
        pinned = placement == "pinned"
        behind.execute(JOBS, {"campaign": row[0], "pinned": pinned, "nodes": nodes, "blocks": JOBS_PER_SETTING - 1})
        if pinned:
            behind.execute("INSERT INTO campaign_nodes (campaign_id, node_id) SELECT 1, id FROM nodes")
        behind.execute(ANALYSES)
        behind.execute("VACUUM ANALYZE")
        store = PostgresStore(url, keep=1)
        yield store, behind
        store.close()


def measure(url: str, placement: str, size: int, nodes: int, passes: int) -> dict[str, Any]:
    """One row of the table."""
    with ledger(url, placement, size, nodes) as (store, behind):
        control = store.control
        behind.execute(ALL_ARE_ONLINE)
        control.reconcile()
        first_ms, offers = ms(control.dispatch)
        assert len(offers) == 2 * nodes
        many, one = [], []
        for into, finishing in [(many, nodes // 10)] * passes + [(one, 1)] * passes:
            behind.execute(SOME_FINISH, [finishing])
            spent_ms, offers = ms(control.dispatch)
            assert len(offers) == finishing
            into.append(spent_ms / finishing)
        quiet = {
            question: statistics.median(ms(ask)[0] for _ in range(20))
            for question, ask in {
                "dispatch": control.dispatch,
                "reconcile": control.reconcile,
                "unheard": control.unheard,
                "analysis_due": control.analysis_due,
                "progress": lambda: store.campaigns.progress(1),
            }.items()
        }
        behind.execute("UPDATE campaigns SET paused = true")
        quiet["dispatch, no campaign"] = statistics.median(ms(control.dispatch)[0] for _ in range(20))
        return {
            "placement": placement,
            "open_jobs": size,
            "nodes": nodes,
            "first_pass_ms_per_job": first_ms / (2 * nodes),
            "many_ms_per_job": statistics.median(many),
            "many_worst_ms_per_job": max(many),
            "one_ms": statistics.median(one),
            "bare_ms": bare(behind, 200),
            "quiet_ms": quiet,
        }


def bare(behind: psycopg.Connection[Any], steps: int) -> float:
    """The physical neighbour, in one transaction as a pass is."""
    for statement in BARE_TABLE.split(";")[:-1]:
        behind.execute(statement.encode())
    behind.execute("VACUUM ANALYZE bare")
    with behind.transaction():
        spent_ms, _ = ms(lambda: [behind.execute(BARE_STEP) for _ in range(steps)])
    return spent_ms / steps


def shown(row: dict[str, Any]) -> str:
    """A line of the table."""
    figures = [row[name] for name in COLUMNS] + [*row["quiet_ms"].values()]
    return f"{row['placement']:9s}{row['open_jobs']:>9,} " + "".join(f"{figure:>10.3f}" for figure in figures)


@click.command()
@click.option("--sizes", default="60000,600000", help="Open jobs, comma-separated.")
@click.option("--nodes", default=1000, help="Simulated nodes.")
@click.option("--passes", default=20, help="Passes of each kind.")
def main(*, sizes: str, nodes: int, passes: int) -> None:
    """Measure what dispatch costs."""
    print(f"{nodes:,} nodes; ms. For a job in the first pass; in a pass for a tenth of the nodes (median, worst);")
    print("a pass for one job; the bare UPDATE. Then passes with nothing to do: dispatch, reconcile, unheard,")
    print("analysis_due, progress, dispatch without a running campaign.")
    rows = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # `timeout` must not leave a server behind
    with private_postgres() as cluster:
        for size in map(int, sizes.split(",")):
            for placement in PLACEMENTS:
                with migrated_database(cluster) as url:
                    rows.append(measure(url, placement, size, nodes, passes))
                print(shown(rows[-1]), flush=True)
    worst = max(max(row["first_pass_ms_per_job"], row["many_ms_per_job"]) for row in rows)
    line = Line(
        what=f"dispatch with {nodes:,} nodes and {sizes} open jobs, ms a job, the worst",
        bar=f"<= {BAR_MS:g}",
        measured=f"{worst:.3f}",
        met=worst <= BAR_MS,
        figures={f"{row['placement']}_{row['open_jobs']}_{name}": row[name] for row in rows for name in COLUMNS},
    )
    bars.tell("dispatch", [line])


if __name__ == "__main__":
    main()
