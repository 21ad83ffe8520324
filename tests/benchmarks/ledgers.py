"""Ledgers full of runs as real agents write them, made within the database: 34 million measurements in minutes."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg

from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.nodes import Hello
from orchestrator.contracts.runs import Run
from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.store.postgres import PostgresStore
from orchestrator.store.telemetry import pack
from workers.run_ids import run_id

CAPTURED = Path(__file__).parents[1] / "data/telemetry/iozone_runs.jsonl.gz"
"""80 runs of six modes by a real agent with IOzone, ten at a time: what it told and observed."""
NODES = 12
BLOCK = 10
"""Replicates in a job of `xu2020`."""

# As if twelve agents had brought every run of every job, in the order in which jobs are handed out; ids are such as
# `workers.run_ids` makes.
RUNS = """
    INSERT INTO runs (id, started_at, job_id, setting_id, replicate, session_id, sequence, previous_setting_id,
        telemetry_id, elapsed_s, settle_s, attempt, try_number, engine_build_id, exit_status, validity, reason,
        "values")
    SELECT (lpad(to_hex((
                   1.7e12 + 2e4 * ((%(first)s + j.position) / %(nodes)s * %(block)s + k - j.first_replicate)
               )::bigint), 12, '0') || '7' || substr(md5(random()::text || j.id || k), 14))::uuid,
           clock_timestamp(), j.id, j.setting_id, k, j.position %% %(nodes)s + 1,
           (j.position / %(nodes)s) * %(block)s + k - j.first_replicate, j.setting_id, %(first)s + j.position,
           20.5, 2, 1, 0, 1, 0, 'valid', '',
           (ARRAY[
               round(1e8 + 1e7 * random()) / 100, round(1e8 + 1e7 * random()) / 100, round(1e8 + 1e7 * random()) / 100,
               round(1e8 + 1e7 * random()) / 100, round(1e8 + 1e7 * random()) / 100, round(1e8 + 1e7 * random()) / 100]
           )[:cardinality(t.modes)]
    FROM jobs AS j JOIN settings AS t ON t.id = j.setting_id
    CROSS JOIN LATERAL generate_series(j.first_replicate, j.first_replicate + j.replicates - 1) AS k
    WHERE j.campaign_id = %(campaign)s ORDER BY j.position, k
"""
TELEMETRY = """
    INSERT INTO telemetry (id, campaign_id, packed) OVERRIDING SYSTEM VALUE
    SELECT %(first)s + j.position, %(campaign)s, b.packed
    FROM jobs AS j JOIN settings AS t ON t.id = j.setting_id
    JOIN captured_blocks AS b ON b.modes = t.modes AND b.place = j.position %% %(blocks)s
    WHERE j.campaign_id = %(campaign)s ORDER BY j.position
"""
COUNTED = """
    UPDATE settings SET valid_runs = %(replicates)s WHERE campaign_id = %(campaign)s;
    UPDATE jobs SET state = 'done', node_id = position %% %(nodes)s + 1 WHERE campaign_id = %(campaign)s;
    INSERT INTO shares (campaign_id, node_id, valid)
    SELECT %(campaign)s, node_id, sum(replicates) FROM jobs WHERE campaign_id = %(campaign)s GROUP BY node_id;
    SELECT open_analyses(ARRAY(SELECT id FROM settings WHERE campaign_id = %(campaign)s));
    UPDATE analyses SET state = 'done', verdict = 'unimodal', version = '1', components = 2, family = 'normal',
        bic = 5012.5, density_modes = 1, selection = %(selection)s WHERE campaign_id = %(campaign)s;
    UPDATE campaigns SET first_claim_at = created_at WHERE id = %(campaign)s;
"""
SELECTION = {"components": 2, "family": "normal", "table": [{"family": "normal", "loglik": -2500.125, "k": 2}] * 30}


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What an agent with IOzone recorded about one run."""

    elapsed_s: float
    values: list[float]
    details: dict[str, Any]
    observed: dict[str, Any]

    def about(self, modes: Sequence[str]) -> Told:
        """As if these modes alone had been asked for."""
        values = dict(zip(self.details, self.values, strict=True))
        return Told(
            elapsed_s=self.elapsed_s,
            values=[values[mode] for mode in modes],
            details={mode: self.details[mode] for mode in modes},
            observed=self.observed,
        )


def captured() -> list[Told]:
    """The captured runs, with what this virtual machine could not tell added: frequency and temperature."""
    chance = random.Random(2020)
    with gzip.open(CAPTURED, "rt") as lines:
        return [_on_metal(Told(**json.loads(line)), chance) for line in lines]


def _on_metal(told: Told, chance: random.Random) -> Told:
    seen = told.observed
    told.observed.update(
        {
            "frequency": "pinned", "governor": "userspace", "start_temperature_c": float(chance.randrange(40, 50)),
            "waited_s": 0.05, "wanted_khz": 2_000_000, "frequency_khz": 1_995_000 + chance.randrange(10_000),
            "frequency_source": "aperf_mperf", "temperature_c": float(chance.randrange(45, 60)),
            "foreign_cpus": round(0.02 * chance.random(), 3), "warm": seen.pop("warm"),
        }
    )  # fmt: skip
    return told


def xu2020(replicates: int = 150) -> Submission:
    """The published study, placed anywhere."""
    return submission(study.Study.from_dict(study.preset("xu2020").as_dict() | {"replicates": replicates}))


def with_nodes(store: PostgresStore) -> list[UUID]:
    """Twelve agents' sessions."""
    sessions = [uuid4() for _ in range(NODES)]
    for number, session in enumerate(sessions):
        hello = Hello(node=f"n{number:02}", session=session, boot_id="b", version="1", engines={"replay": "1"})
        store.nodes.hello(hello)
    return sessions


def fill(url: str, campaign_id: int, replicates: int) -> None:
    """Give a submitted campaign all its runs with telemetry, and done analyses. Foreign keys hold by construction."""
    with psycopg.connect(url) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "CREATE TEMP TABLE captured_blocks (place integer, modes text[], packed bytea) ON COMMIT DROP"
        )
        asked = "SELECT DISTINCT modes FROM settings WHERE campaign_id = %s"
        for (modes,) in connection.execute(asked, [campaign_id]).fetchall():
            for place, packed in enumerate(_blocks(modes)):
                connection.execute("INSERT INTO captured_blocks VALUES (%s, %s, %s)", [place, modes, packed])
        connection.execute(
            "INSERT INTO engine_builds (name, version) VALUES ('iozone', '3.489') ON CONFLICT DO NOTHING"
        )
        first = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM telemetry").fetchone()
        assert first is not None
        named = {"campaign": campaign_id, "nodes": NODES, "block": BLOCK, "first": first[0]}
        named |= {"replicates": replicates, "blocks": len(captured()) // BLOCK}
        connection.execute(RUNS, named)
        connection.execute(TELEMETRY, named)
        connection.execute("SELECT setval('telemetry_id_seq', (SELECT max(id) FROM telemetry))")
        connection.execute("SET session_replication_role = origin")
        for statement in COUNTED.split(";\n"):
            if statement.strip():
                connection.execute(statement, {**named, "selection": json.dumps(SELECTION)})


def settle(url: str) -> None:
    """Do what autovacuum and the checkpointer would do in time."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")


def _blocks(modes: Sequence[str]) -> Iterator[bytes]:
    runs = [told.about(modes) for told in captured()]
    for start in range(0, len(runs), BLOCK):
        block = enumerate(runs[start : start + BLOCK], start=start)
        yield pack([{"sequence": n, "details": told.details, "observed": told.observed} for n, told in block])


def runs_of(url: str, campaign_id: int, session: UUID, count: int, *, with_telemetry: bool) -> list[Run]:
    """So many runs that are still to be recorded, whole jobs in the order in which they are handed out."""
    told = captured()
    jobs = """
        SELECT j.id, j.setting_id, j.first_replicate, j.replicates, t.modes FROM jobs AS j
        JOIN settings AS t ON t.id = j.setting_id WHERE j.campaign_id = %s ORDER BY j.position LIMIT %s
    """
    with psycopg.connect(url) as connection:
        rows = connection.execute(jobs, [campaign_id, count // BLOCK]).fetchall()
    return [
        Run(
            id=run_id(), campaign_id=campaign_id, setting_id=setting, job_id=job, attempt=1, replicate=first + k,
            try_number=0, session=session, sequence=(number := BLOCK * place + k), started_at=1.7e9 + number,
            elapsed_s=(one := told[number % len(told)].about(modes)).elapsed_s, engine="iozone",
            engine_version="3.489", exit_status=0,
            values=tuple(one.values), valid=True, settle_s=2.0,
            previous_setting_id=setting, details=one.details if with_telemetry else {},
            observed=one.observed if with_telemetry else {},
        )
        for place, (job, setting, first, replicates, modes) in enumerate(rows)
        for k in range(replicates)
    ]  # fmt: skip
