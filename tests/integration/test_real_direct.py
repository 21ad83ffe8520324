"""O_DIRECT for real: what was just written is read from the disk again, with IOzone's `-I` and fio's `direct`."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.contracts.engines import SIX_MODES
from workers.benchmarks.engines import Bench, engine
from workers.benchmarks.port import Succeeded, Task
from workers.benchmarks.process import Runner
from workers.benchmarks.stop import Stop
from workers.node.inventory import Inventory
from workers.node.journal import Journal

FILE_KB = 1024
TASK = Task(setting={"threads": 2, "file_size_kb": FILE_KB, "record_size_kb": 64}, modes=SIX_MODES)
READ_MODES = sum("read" in mode for mode in SIX_MODES)


@pytest.fixture
def bench() -> Iterator[Bench]:
    """A node whose target is on a disk: memory has no O_DIRECT."""
    with tempfile.TemporaryDirectory(prefix="modescope-direct-", dir="/var/tmp") as folder:
        probe = Path(folder) / "probe"
        try:
            os.close(os.open(probe, os.O_CREAT | os.O_WRONLY | os.O_DIRECT))
        except OSError as problem:
            pytest.skip(f"no O_DIRECT in {folder}: {problem.strerror}")
        probe.unlink()
        stop = Stop()
        runner = Runner(Journal(Path(folder) / "state"), stop)
        (Path(folder) / "target").mkdir()
        inventory = Inventory(targets={"default": Path(folder) / "target"}, reserve_kb=0)
        yield Bench(node="n1", runner=runner, inventory=inventory, state=Path(folder) / "state")
        stop.close()


def read_from_disk_kb(bench: Bench, name: str, **options: object) -> float:
    """What the processes of one run read from block devices."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock
    outcome = engine(name, options, bench).run(TASK, 0)
    assert isinstance(outcome, Succeeded), outcome
    assert all(value > 0 for value in outcome.values)
    return (resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock - before) * 512 / 1024


@pytest.mark.parametrize(("name", "options"), [("iozone", {"settle_s": 0}), ("fio", {})])
def test_past_the_page_cache_all_that_is_read_comes_from_the_disk(
    bench: Bench, require_program: Callable[[str], Path], name: str, options: dict[str, object]
) -> None:
    for program in (name, "cc"):
        require_program(program)
    read_kb = read_from_disk_kb(bench, name, direct=True, **options)
    cached_kb = read_from_disk_kb(bench, name, direct=False, **options)
    files_kb = 2 * FILE_KB
    assert read_kb >= READ_MODES * files_kb
    assert cached_kb < files_kb
