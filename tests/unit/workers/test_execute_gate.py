"""One job as the agent carries it out, on the in-memory store: what the gate turns away is kept, and made again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from orchestrator.contracts.jobs import Failure, FailureKind, State
from orchestrator.contracts.nodes import Hello
from orchestrator.contracts.runs import Run
from tests.contract.stores import MemoryUnderTest
from tests.contract.studies import study
from workers import execute
from workers.benchmarks import engines
from workers.benchmarks.engines import Bench
from workers.benchmarks.port import Outcome, Succeeded, Task
from workers.homecoming import Homecoming
from workers.node.gate import Observation
from workers.node.inventory import Inventory
from workers.node.prepare import Node
from workers.node.watch import Watch
from workers.spool import Spool


class Steady:
    """An engine that always measures the same."""

    name = "builtin"
    settle_s = None

    def version(self) -> str:
        return "1"

    def prepare(self, task: Task) -> None:
        pass

    def run(self, task: Task, replicate: int) -> Outcome:
        return Succeeded(values=tuple(1.0 for _ in task.modes), elapsed_s=0.0, exit_status=0)


@pytest.fixture
def store() -> MemoryUnderTest:
    return MemoryUnderTest()


@pytest.fixture
def workplace(
    store: MemoryUnderTest, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[execute.Workplace]:
    monkeypatch.setattr(engines, "engine", lambda *_: Steady())
    targets = dict.fromkeys(("default", "ssd"), tmp_path / "target")
    session = uuid4()
    store.nodes.hello(Hello(node="n1", session=session, boot_id="b", version="1", engines={"builtin": "1"}))
    spool = Spool(bench.state, store.ledger)
    homecoming = Homecoming(store, spool, tmp_path / "refused")
    bench = replace(bench, inventory=Inventory(targets=targets, reserve_kb=0))
    yield execute.Workplace(store=store, session=session, bench=bench, homecoming=homecoming)
    spool.close()


def observed_in_turn(monkeypatch: pytest.MonkeyPatch, *seen: Observation) -> None:
    """What the watch says of one run after the other; of the last again and again."""
    left = list(seen)
    monkeypatch.setattr(Watch, "end", lambda *_, **__: left.pop(0) if len(left) > 1 else left[0])


def carried_out(store: MemoryUnderTest, workplace: execute.Workplace, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Do the one job that is there; every run that was kept."""
    kept: list[Run] = []
    append = Spool.append

    def keep(spool: Spool, run: Run) -> None:
        kept.append(run)
        append(spool, run)

    monkeypatch.setattr(Spool, "append", keep)
    store.campaigns.submit(study(replicates=2))
    (offer,) = store.control.dispatch()
    execute.execute(offer.job_id, workplace)
    return kept


def test_a_disturbed_run_is_kept_as_invalid_with_its_values_and_made_again(
    store: MemoryUnderTest, workplace: execute.Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed_in_turn(monkeypatch, Observation(foreign_cpus=3.0), Observation(foreign_cpus=0.0))
    runs = carried_out(store, workplace, monkeypatch)
    assert [(run.replicate, run.try_number, run.valid) for run in runs] == [(0, 0, False), (0, 1, True), (1, 0, True)]
    assert runs[0].reason == "others kept more than 0.5 CPUs busy"
    assert runs[0].values == (1.0, 1.0)
    assert runs[0].observed["foreign_cpus"] == 3.0
    assert runs[1].observed["warm"] == ["readers"]
    assert list(store.job_states().values()) == [State.DONE]
    assert store.campaigns.invalid_reasons(runs[0].campaign_id) == {"others kept more than 0.5 CPUs busy": 1}


def test_a_node_that_is_always_disturbed_gives_the_job_back_as_its_own_fault(
    store: MemoryUnderTest, workplace: execute.Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[Failure | None] = []
    monkeypatch.setattr(Homecoming, "give_back", lambda _self, _job, _ending, failure, **_: given_back.append(failure))
    observed_in_turn(monkeypatch, Observation(temperature_c=99.0))
    runs = carried_out(store, workplace, monkeypatch)
    assert [run.try_number for run in runs] == [0, 1, 2]
    reason = "invalid 3 times in a row: the CPUs were hotter than 95 °C"
    assert given_back == [Failure(kind=FailureKind.NODE, reason=reason)]


def test_a_shared_machine_marks_its_runs(
    store: MemoryUnderTest, workplace: execute.Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workplace.shared = True
    runs = carried_out(store, workplace, monkeypatch)
    assert [run.valid for run in runs] == [True, True]
    assert all(run.observed["shared"] is True and "dirty_kb" in run.observed for run in runs)


def test_every_run_tells_how_far_its_nodes_clock_is_from_the_databases(
    store: MemoryUnderTest, workplace: execute.Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = [run.observed["clock_ahead_s"] for run in carried_out(store, workplace, monkeypatch)]
    assert all(isinstance(seconds, float) for seconds in ahead)


def test_an_engine_is_told_what_to_do_between_its_invocations(
    store: MemoryUnderTest, workplace: execute.Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    monkeypatch.setattr(Node, "between_invocations", lambda _: happened.append("between"))

    def run(_self: Steady, task: Task, _replicate: int) -> Outcome:
        task.between_invocations()
        return Succeeded(values=(1.0, 1.0), elapsed_s=0.0, exit_status=0)

    monkeypatch.setattr(Steady, "run", run)
    carried_out(store, workplace, monkeypatch)
    assert happened == ["between", "between"]
