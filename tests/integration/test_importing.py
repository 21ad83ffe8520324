"""Imported results and bundles on a real PostgreSQL, by the command."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from orchestrator.bundle import writing
from orchestrator.cli.campaigns.importing import import_
from orchestrator.contracts.campaigns import State
from orchestrator.imports import reading, recording
from orchestrator.store.memory import MemoryStore
from orchestrator.store.ports import Store
from orchestrator.store.postgres import PostgresStore
from tests.unit.measured import Laboratory
from workers.analyse import Analyst

MAPPING = """
mode: {constant: readers}
node: host
time: start
analysis: {families: [normal], max_components: 2}
"""


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    opened = PostgresStore(database_url)
    yield opened
    opened.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two settings of 40 and 60 runs on two nodes; the larger one has two modes."""
    rng = np.random.default_rng(5)
    lines = [
        f"{threads},m0{i % 2},{1.5e9 + 60 * i},{1000 * (1 + (threads == 2 and i % 3 == 0)) + rng.normal(0, 20):.2f}\n"
        for threads, n in ((1, 40), (2, 60))
        for i in range(n)
    ]
    (tmp_path / "runs.csv").write_text("threads,host,start,throughput\n" + "".join(lines))
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    return tmp_path / "runs.csv"


def called(database_url: str, *arguments: object) -> Result:
    environment = {"MODESCOPE_DATABASE_URL": database_url}
    return CliRunner().invoke(import_, [str(one) for one in arguments], env=environment, catch_exceptions=False)


def found_in(store: Store, campaign_id: int) -> list[tuple[object, ...]]:
    names = ("verdict", "sentence", "dip_q", "bic", "components", "family", "median", "final", "valid_runs")
    found = store.campaigns.configurations(campaign_id)
    return [(*one.identity, *(getattr(one, name) for name in names)) for one in found]


def analysed(store: Store) -> None:
    store.control.reconcile()
    Analyst(store).work()


def test_results_become_a_campaign_once_and_are_judged(database_url: str, store: Store, source: Path) -> None:
    mapping = ("--mapping", source.with_name("mapping.yaml"))
    assert "nothing is stored" in called(database_url, source, *mapping, "--dry-run").output
    assert store.campaigns.all() == []
    first = json.loads(called(database_url, source, *mapping, "--json").stdout)
    again = json.loads(called(database_url, source, *mapping, "--json").stdout)
    assert (first["campaign"], first["new"], again["new"]) == (again["campaign"], True, False)
    analysed(store)
    campaign = store.campaigns.get(first["campaign"])
    assert (campaign.state, campaign.engine, campaign.expected_runs) == (State.COMPLETE, "imported", 100)
    verdicts = [(one.levels, one.valid_runs, one.verdict) for one in store.campaigns.configurations(campaign.id)]
    assert verdicts == [((1,), 40, "unimodal"), ((2,), 60, "multimodal")]
    assert {node.name: node.online for node in store.nodes.all()} == {"m00": False, "m01": False}
    assert store.access.audited()[0].subject == f"campaign {campaign.id}"


def test_a_bundle_moves_from_postgresql_to_another_store(store: Store, source: Path, tmp_path: Path) -> None:
    wanted, _ = reading.read(source, source.with_name("mapping.yaml"), None)
    campaign, _ = recording.record(store, wanted)
    analysed(store)
    path = tmp_path / "bundle.zip"
    path.write_bytes(b"".join(writing.write(store, campaign.id)))
    assert path.read_bytes() == b"".join(writing.write(store, campaign.id))
    elsewhere = MemoryStore()
    copy, _ = recording.record(elsewhere, reading.read(path, None, None)[0])
    analysed(elsewhere)
    assert found_in(elsewhere, copy.id) == found_in(store, campaign.id)


def test_a_measured_campaign_restored_in_postgresql_is_found_the_same(
    database_url: str, store: Store, tmp_path: Path
) -> None:
    measured = MemoryStore()
    laboratory = Laboratory(measured)
    campaign = laboratory.submit()
    laboratory.fail_once()
    laboratory.work_off()
    path = tmp_path / "bundle.zip"
    path.write_bytes(b"".join(writing.write(measured, campaign.id)))
    told = json.loads(called(database_url, path, "--json").stdout)
    analysed(store)
    assert found_in(store, told["campaign"]) == found_in(measured, campaign.id)
    rows = [
        replace(row, job=0, started_at=math.floor(row.started_at)) for row in measured.campaigns.export(campaign.id)
    ]
    assert [
        replace(row, job=0, started_at=math.floor(row.started_at)) for row in store.campaigns.export(told["campaign"])
    ] == rows
