"""A dropped cache has to be cold when the invocation begins for which it was dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.contracts.preparation import Cadence, Preparation
from tests.unit.workers.machines import Kernel
from workers.benchmarks.engines import Bench
from workers.node.cold import ColdCache
from workers.node.prepare import After, prepared

MEMINFO = "Dirty: 0 kB\nWriteback: 0 kB\nBuffers: {} kB\nCached: 90000 kB\nMapped: 60000 kB\nShmem: 30000 kB\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine whose page cache can be dropped."""
    root = tmp_path / "root"
    (root / "proc/sys/vm").mkdir(parents=True)
    (root / "proc/sys/vm/drop_caches").write_text("0\n")
    hold(root, 0)
    return root


def hold(root: Path, droppable_kb: int) -> None:
    (root / "proc/meminfo").write_text(MEMINFO.format(droppable_kb))


def measured(root: Path, bench: Bench, cadence: Cadence, *in_cache_kb: int, shared: bool = False) -> list[After]:
    """A run for every number: what is in the cache when it begins."""
    found = []
    wanted = Preparation(drop_caches=cadence, settle_timeout_s=0)
    with prepared(wanted, {}, bench, root, hands=Kernel(), shared=shared) as node:
        for kb in in_cache_kb:
            hold(root, kb)
            before = node.before_run()
            node.begin_run()
            found.append(node.after_run(before))
    return found


def test_what_is_mapped_or_shared_is_not_what_a_drop_would_take(root: Path, bench: Bench) -> None:
    (after,) = measured(root, bench, Cadence.PER_RUN, 0)
    assert (after.observed["cached_kb"], after.reason) == (0, None)


def test_a_cache_that_was_filled_again_makes_a_run_invalid(root: Path, bench: Bench) -> None:
    cold, warm = measured(root, bench, Cadence.PER_RUN, 65_536, 65_537)
    assert cold.reason is None
    assert warm.reason == "the page cache was not cold before it: more than 65536 kB were in it"
    assert warm.observed["cached_kb"] == 65_537


def test_dropped_once_a_job_only_the_first_run_has_to_be_cold(root: Path, bench: Bench) -> None:
    first, second = measured(root, bench, Cadence.PER_JOB, 70_000, 70_000)
    assert first.reason is not None
    assert second.reason is None
    assert "cached_kb" not in second.observed


def test_where_no_drop_is_asked_for_a_warm_cache_is_no_matter(root: Path, bench: Bench) -> None:
    (after,) = measured(root, bench, Cadence.NEVER, 10**6)
    assert after.reason is None


def test_on_a_shared_machine_others_fill_the_cache_and_it_is_only_noted(root: Path, bench: Bench) -> None:
    (after,) = measured(root, bench, Cadence.PER_RUN, 10**6, shared=True)
    assert after.reason is None
    assert after.observed["cached_kb"] == 10**6


def test_of_several_invocations_the_warmest_counts(root: Path) -> None:
    cold = ColdCache(root)
    for kb in (5, 70_000, 7):
        cold.dropped()
        hold(root, kb)
        cold.look()
    assert cold.seen_kb() == 70_000
    assert cold.seen_kb() is None


def test_a_machine_that_does_not_tell_is_not_judged(root: Path, bench: Bench) -> None:
    (root / "proc/meminfo").unlink()
    cold = ColdCache(root)
    cold.dropped()
    cold.look()
    assert cold.seen_kb() is None


def test_between_invocations_of_a_run_the_cache_is_dropped_again(root: Path, bench: Bench) -> None:
    kernel = Kernel()
    wanted = Preparation(drop_caches=Cadence.PER_RUN, trim=Cadence.NEVER, settle_timeout_s=0)
    with prepared(wanted, {}, bench, root, hands=kernel) as node:
        before = node.before_run()
        hold(root, 70_000)
        node.between_invocations()
        assert [value for _, value in kernel.writes] == ["3", "3"]
        assert node.after_run(before).observed["cached_kb"] == 70_000
