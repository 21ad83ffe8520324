"""Campaigns that grow, on real parts, with samples that are known: they go on whatever dies between two rounds."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from orchestrator import words
from orchestrator.cli.service.db import db
from orchestrator.client import Client
from orchestrator.contracts.rounds import Decision, Due, Growth
from orchestrator.embedded.home import discard
from orchestrator.embedded.service import Service
from tests.contract.agents import Agent
from tests.contract.stores import PostgresUnderTest
from tests.contract.studies import study, submitted
from tests.contract.test_store_analyses import leased, results
from tests.waiting import wait_for

STUDY = """
name: two shapes
design:
  blocks:
    - levels: {shape: [flat, split]}
      modes: [readers]
adaptive: {pilot: 30, target: 0.06, max: 300}
engine: {name: replay, recording: known}
analysis: {families: [normal, lognormal], max_components: 2}
"""


ACTIVE = """
name: measure less
design:
  blocks:
    - levels: {file_size_kb: [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048], threads: [1, 2, 4]}
      modes: [readers]
replicates: 20
replicates_per_job: 20
active: {first: 0.34, batch: 0.3, most: 0.9, good_enough: 0.29}
engine: {name: replay, recording: smooth}
analysis: {families: [normal], max_components: 1}
"""


def write_smooth_recording(path: Path) -> None:
    """Throughput is a power of both factors, and noise: a third of the settings tells the others."""
    rng = np.random.default_rng(7)
    columns = ",".join(f"t{k + 1}" for k in range(20))
    rows = [
        f"{2**size},{threads},readers," + ",".join(map(str, 1e6 * 2 ** (0.2 * size) * threads**0.5 * np.exp(noise)))
        for size in range(2, 12)
        for threads in (1, 2, 4)
        for noise in [rng.normal(0, 0.1, 20)]
    ]
    path.write_text("\n".join([f"file_size_kb,threads,mode,{columns}", *rows]) + "\n")


def write_recording(path: Path) -> None:
    """A flat sample, whose quantiles 30 runs nearly tell; and one with a valley where a tenth of the runs begins."""
    rng = np.random.default_rng(7)
    flat = rng.uniform(900, 1100, 400)
    split = np.where(rng.random(400) < 0.1, rng.normal(500, 10, 400), rng.normal(1000, 10, 400))
    columns = ",".join(f"t{k + 1}" for k in range(400))
    rows = [f"{name},readers,{','.join(map(str, values))}" for name, values in (("flat", flat), ("split", split))]
    path.write_text("\n".join([f"shape,mode,{columns}", *rows]) + "\n")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """One node that has the recordings."""
    folder = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    write_recording(folder / "known.csv")
    write_smooth_recording(folder / "smooth.csv")
    (folder / "inventory.yaml").write_text("recordings: {known: known.csv, smooth: smooth.csv}\n")
    with Service(folder, nodes=1) as running:
        yield running
    discard(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def grown(service: Service) -> Iterator[tuple[Client, int, int]]:
    """Ids of an adaptive and an active campaign at their end: parts were killed when each had ended a round."""
    with Client(service.address, service.token) as client:
        adaptive, active = (client.submit(text)[0].id for text in (STUDY, ACTIVE))
        wait_for("a round", lambda: client.adaptation(adaptive), lambda seen: bool(seen.rounds))
        wait_for("a round", lambda: client.choice(active), lambda seen: bool(seen.rounds))
        for part in ("analysis-worker", "controller"):
            os.kill(service.pids[part], signal.SIGKILL)
        wait_for("final verdicts", lambda: client.progress(adaptive), lambda seen: seen.verdicts_final)
        wait_for("final verdicts", lambda: client.progress(active), lambda seen: seen.verdicts_final)
        yield client, adaptive, active


def test_settings_end_with_different_numbers_of_runs_though_parts_are_killed_on_the_way(
    grown: tuple[Client, int, int],
) -> None:
    client, campaign, _ = grown
    found = client.configurations(campaign)
    adapted = client.adaptation(campaign)
    runs = [one.valid_runs for one in found]
    assert runs[0] < runs[1] == 300, f"no number of runs tells a quantile in a valley: {runs}"
    assert [one.replicates for one in found] == runs
    assert [one.verdict for one in found][1] == "multimodal"
    assert (adapted.over, adapted.runs, adapted.saved_runs) == (True, sum(runs), 300 - sum(runs))
    assert [one.settings == 0 for one in adapted.rounds][-2:] == [False, True]
    assert (adapted.met, adapted.at_max) == (1, 1)


def test_a_part_of_the_settings_is_measured_and_the_hours_saved_are_told_though_parts_are_killed_on_the_way(
    grown: tuple[Client, int, int],
) -> None:
    client, _, campaign = grown
    found, chosen = client.configurations(campaign), client.choice(campaign)
    measured = [one for one in found if one.replicates]
    first, last = chosen.rounds[0].record, chosen.rounds[-1].record
    assert (first["measured"], first["left"]) == (10, 20), "a third fills the space first"
    assert {one.levels[1] for one in measured} == {1, 2, 4}
    assert (chosen.over, chosen.rounds[-1].settings) == (True, 0)
    assert chosen.measured == last["measured"] == len(measured) == sum(one.valid_runs == 20 for one in found)
    assert 10 <= len(measured) < 30, chosen
    assert chosen.expected_distance is not None
    assert chosen.expected_distance <= 0.29, chosen
    assert chosen.saved_node_hours is not None
    assert chosen.saved_node_hours > 0
    assert words.growth(chosen)[-1] in client.report(campaign)


def test_a_ledger_restored_between_two_rounds_goes_on(
    database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    store = PostgresUnderTest(database_url)
    growing = Growth(policy="adaptive", options={"max": 9}, replicates_per_job=2)
    campaign = submitted(store, replace(study(settings=2, replicates=2), growth=growing))
    Agent(store).work_off()
    batch = leased(store)
    store.analyses.store(batch, results(batch))
    for verb in ("dump", "restore"):
        url = database_url if verb == "dump" else empty_database_url
        where = ["--out"] if verb == "dump" else []
        arguments = [verb, *where, str(tmp_path / "ledger.dump")]
        assert CliRunner().invoke(db, arguments, env={"MODESCOPE_DATABASE_URL": url}).exit_code == 0
    restored = PostgresUnderTest(empty_database_url)
    assert restored.rounds.due() == [Due(campaign_id=campaign, number=1)]
    first = restored.campaigns.configurations(campaign)[0].setting_id
    assert restored.rounds.decide(campaign, Decision(number=1, replicates={first: 5}, record={}))
    Agent(restored, "n1").work_off()
    batch = leased(restored)
    assert {len(one.sample) for one in batch.analyses} == {5}
    restored.close()
    store.close()
