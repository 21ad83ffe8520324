"""A node for tests: its state, its target folder, its runner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from workers.benchmarks.engines import Bench
from workers.benchmarks.process import Runner
from workers.benchmarks.stop import Stop
from workers.node.inventory import Inventory
from workers.node.journal import Journal


@pytest.fixture
def stop() -> Iterator[Stop]:
    flag = Stop()
    yield flag
    flag.close()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "state")


@pytest.fixture
def runner(journal: Journal, stop: Stop) -> Runner:
    return Runner(journal, stop)


@pytest.fixture
def bench(tmp_path: Path, runner: Runner) -> Bench:
    target = tmp_path / "target"
    target.mkdir()
    inventory = Inventory(targets={"default": target}, reserve_kb=0)
    return Bench(node="n1", runner=runner, inventory=inventory, state=tmp_path / "state")
