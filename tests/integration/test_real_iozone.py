"""The real IOzone: every mode, the settle time, the end of a whole process group."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.contracts.designs import Level
from orchestrator.contracts.engines import IOZONE_MODES, SIX_MODES
from tests.unit.workers.waiting import wait_until
from workers.benchmarks import iozone_text
from workers.benchmarks.engines import Bench, available, engine
from workers.benchmarks.port import Failed, Invocation, Succeeded, Task, TimedOut
from workers.benchmarks.process import Ended, Runner
from workers.benchmarks.stop import Stop
from workers.node import groups
from workers.node.inventory import Inventory
from workers.node.journal import Journal

SMALL: dict[str, Level] = {"threads": 1, "file_size_kb": 4, "record_size_kb": 4}


class Witness(Runner):
    """Keeps what the benchmark really printed."""

    ended: Ended

    def run(self, invocation: Invocation) -> Ended:
        self.ended = super().run(invocation)
        return self.ended


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "the state")


@pytest.fixture
def witness(journal: Journal) -> Witness:
    return Witness(journal, Stop())


@pytest.fixture
def bench(require_program: Callable[[str], Path], tmp_path: Path, witness: Witness) -> Bench:
    require_program("iozone")
    target = tmp_path / "a target"
    target.mkdir()
    inventory = Inventory(targets={"default": target}, reserve_kb=0)
    return Bench(node="n1", runner=witness, inventory=inventory, state=tmp_path / "the state")


@pytest.fixture
def shim(require_program: Callable[[str], Path]) -> None:
    """The settle time can be set."""
    require_program("cc")


def test_its_version_is_told(bench: Bench) -> None:
    assert available(bench)["iozone"].startswith("3.")


@pytest.mark.usefixtures("shim")
@pytest.mark.parametrize("sizes", [(1, 4, 4), (8, 64, 4), (2, 1024, 1024)])
@pytest.mark.parametrize("stonewall", [True, False])
def test_throughputs_are_those_of_the_raw_text(
    bench: Bench, witness: Witness, sizes: tuple[int, int, int], stonewall: bool
) -> None:
    setting = dict(zip(("threads", "file_size_kb", "record_size_kb"), sizes, strict=True))
    task = Task(setting=setting, modes=SIX_MODES)
    iozone = engine("iozone", {"settle_s": 0, "stonewall": stonewall}, bench)
    iozone.prepare(task)
    outcome = iozone.run(task, 0)
    assert isinstance(outcome, Succeeded)
    measured = iozone_text.parse(witness.ended.output)
    assert outcome.values == tuple(entry.throughput_kbps for entry in measured)
    assert {(entry.threads, entry.file_size_kb, entry.record_size_kb) for entry in measured} == {sizes}
    if not stonewall:
        assert {details["min_xfer_kb"] for details in outcome.details.values()} == {float(sizes[1])}
    assert list(bench.target.path.iterdir()) == []


@pytest.mark.usefixtures("shim")
def test_all_thirteen_modes_are_measured_in_iozones_order(bench: Bench, witness: Witness) -> None:
    task = Task(setting=SMALL | {"threads": 2, "file_size_kb": 256}, modes=IOZONE_MODES)
    outcome = engine("iozone", {"settle_s": 0}, bench).run(task, 0)
    assert isinstance(outcome, Succeeded), outcome
    measured = iozone_text.parse(witness.ended.output)
    assert tuple(entry.mode for entry in measured) == IOZONE_MODES
    assert outcome.values == tuple(entry.throughput_kbps for entry in measured)


@pytest.mark.usefixtures("shim")
@pytest.mark.parametrize("option", ["sync_writes", "time_flush", "time_close", "no_retest"])
def test_a_named_option_is_accepted(bench: Bench, witness: Witness, option: str) -> None:
    task = Task(setting=SMALL, modes=("initial_writers", "readers"))
    outcome = engine("iozone", {"settle_s": 0, option: True}, bench).run(task, 0)
    assert isinstance(outcome, Succeeded), outcome
    assert ("rewriters" in witness.ended.output) != (option == "no_retest")


@pytest.mark.usefixtures("shim")
def test_one_mode_an_invocation(bench: Bench) -> None:
    task = Task(setting=SMALL, modes=("rewriters", "random_writers"))
    outcome = engine("iozone", {"settle_s": 0, "modes_per_invocation": "one"}, bench).run(task, 0)
    assert isinstance(outcome, Succeeded)
    assert list(outcome.details) == ["rewriters", "random_writers"]


@pytest.mark.usefixtures("shim")
def test_only_what_is_asked_for_is_measured(bench: Bench, witness: Witness) -> None:
    task = Task(setting=SMALL, modes=("random_writers",))
    outcome = engine("iozone", {"settle_s": 0}, bench).run(task, 0)
    assert isinstance(outcome, Succeeded)
    assert len(outcome.values) == 1
    modes = [entry.mode for entry in iozone_text.parse(witness.ended.output)]
    assert modes == ["initial_writers", "rewriters", "random_readers", "random_writers"]


@pytest.mark.usefixtures("shim")
def test_the_settle_time_is_what_is_waited(bench: Bench) -> None:
    """Ten pauses for six modes."""
    task = Task(setting=SMALL, modes=SIX_MODES)
    without = engine("iozone", {"settle_s": 0}, bench).run(task, 0)
    with_pauses = engine("iozone", {"settle_s": 0.1}, bench).run(task, 0)
    assert without.elapsed_s < 1.0
    assert 1.0 <= with_pauses.elapsed_s < 3.0


def test_without_a_shim_iozone_waits_by_itself_and_a_timeout_ends_all_of_it(bench: Bench) -> None:
    task = Task(setting=SMALL | {"threads": 3}, modes=SIX_MODES)
    outcome = engine("iozone", {"timeout_s": 1.0}, bench).run(task, 0)
    assert isinstance(outcome, TimedOut)
    assert "Throughput test with 3 processes" in outcome.output
    assert list(bench.target.path.iterdir()) == []


@pytest.mark.usefixtures("shim")
def test_what_iozone_refuses_is_a_failure_with_its_words(bench: Bench) -> None:
    task = Task(setting={"threads": 1, "file_size_kb": 65536, "record_size_kb": 32768}, modes=("initial_writers",))
    outcome = engine("iozone", {"settle_s": 0}, bench).run(task, 0)
    assert isinstance(outcome, Failed)
    assert "maximum record size" in outcome.reason


AGENT = """
import sys
from pathlib import Path
from workers.benchmarks.engines import Bench, engine
from workers.benchmarks.port import Task
from workers.benchmarks.process import Runner
from workers.benchmarks.stop import Stop
from workers.node.inventory import Inventory
from workers.node.journal import Journal
state, target = Path(sys.argv[1]), Path(sys.argv[2])
inventory = Inventory(targets={"default": target}, reserve_kb=0)
bench = Bench(node="n1", runner=Runner(Journal(state), Stop()), inventory=inventory, state=state)
setting = {"threads": 2, "file_size_kb": 4 << 20, "record_size_kb": 4}  # long enough to be found at work
engine("iozone", {}, bench).run(Task(setting=setting, modes=("readers",)), 0)
"""


@pytest.fixture
def agent(bench: Bench) -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs IOzone, as an agent does."""
    process = subprocess.Popen([sys.executable, "-c", AGENT, str(bench.state), str(bench.target.path)])
    yield process
    process.kill()
    process.wait()


def test_iozone_dies_with_its_agent_and_the_next_life_cleans_up(
    bench: Bench, journal: Journal, agent: subprocess.Popen[bytes]
) -> None:
    wait_until(lambda: len(members(journal)) == 4, "the watcher, IOzone and its two processes are at work")
    agent.kill()
    wait_until(lambda: members(journal) == [], "nothing of IOzone is alive")
    assert journal.kill_survivors() == 0
    assert bench.target.sweep() == 1


def members(journal: Journal) -> list[groups.Process]:
    running = journal.running()
    return [] if running is None else groups.living_members(running.group)
