"""Runs on their way to the ledger survive a crash, and are never mixed between ledgers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.runs import Run
from workers.spool import Spool

LEDGER = UUID(int=1)
Opened = Callable[..., Spool]


@pytest.fixture
def spool_of(tmp_path: Path) -> Iterator[Opened]:
    """Opens this node's spool for a ledger, as a life of its agent does; none says goodbye before the test's end."""
    opened: list[Spool] = []

    def open_spool(ledger: UUID = LEDGER) -> Spool:
        opened.append(Spool(tmp_path, ledger))
        return opened[-1]

    yield open_spool
    for spool in opened:
        spool.close()


def run(replicate: int = 0) -> Run:
    return Run(
        id=uuid4(),
        session=UUID(int=7),
        campaign_id=1,
        setting_id=2,
        job_id=3,
        attempt=1,
        replicate=replicate,
        try_number=0,
        sequence=replicate,
        started_at=1.5,
        elapsed_s=0.02,
        engine="builtin",
        engine_version="1",
        exit_status=0,
        values=(1.0, 0.0),
        valid=True,
        details={"readers": {"min_kbps": 0.0}},
        observed={"file_system": "ext4"},
    )


def test_what_is_appended_is_pending_in_order_also_after_a_crash(spool_of: Opened) -> None:
    runs = [run(k) for k in range(5)]
    spool = spool_of()
    for one in runs:
        spool.append(one)
    assert spool.pending() == runs
    assert spool_of().pending() == runs  # the first one was never closed


def test_what_is_acknowledged_is_gone_and_the_file_shrinks(spool_of: Opened, tmp_path: Path) -> None:
    spool = spool_of()
    empty = (tmp_path / "spool.jsonl").stat().st_size
    first, second, third = run(0), run(1), run(2)
    spool.append(first)
    spool.append(second)
    spool.acknowledge([first.id, uuid4()])
    assert spool.pending() == [second]
    spool.acknowledge([second.id])
    assert (tmp_path / "spool.jsonl").stat().st_size == empty
    spool.append(third)
    assert spool_of().pending() == [third]


@pytest.mark.parametrize(
    ("fsync_s", "syncs"),
    [(0.0, 100), (0.0001, 100), (0.001, 20), (0.003, 8), (1.0, 5)],
)
def test_what_keeps_runs_from_a_power_loss_takes_a_small_share_of_the_time(
    spool_of: Opened, monkeypatch: pytest.MonkeyPatch, fsync_s: float, syncs: int
) -> None:
    """Ten seconds of runs; whatever an fsync takes, two seconds of them can be lost at most."""
    now_s, synced = [100.0], [0]

    def fsync(_: int) -> None:
        now_s[0] += fsync_s
        synced[0] += 1

    spool = spool_of()
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    monkeypatch.setattr(os, "fsync", fsync)
    spool.sync()
    synced[0] = 0
    for number in range(100):
        now_s[0] += 0.1
        spool.append(run(number))
    assert syncs - 1 <= synced[0] <= syncs + 1


@pytest.mark.parametrize("torn_bytes", [1, 2, 40])
def test_a_torn_last_line_costs_that_run_only(spool_of: Opened, tmp_path: Path, torn_bytes: int) -> None:
    spool = spool_of()
    kept, lost = run(0), run(1)
    spool.append(kept)
    spool.append(lost)
    path = tmp_path / "spool.jsonl"
    path.write_bytes(path.read_bytes()[:-torn_bytes])
    again = spool_of()
    assert again.pending() == [kept]
    again.append(lost)
    assert spool_of().pending() == [kept, lost]


def test_the_spool_of_another_ledger_is_kept_aside(spool_of: Opened) -> None:
    foreign = run()
    spool_of().append(foreign)
    spool = spool_of(UUID(int=2))
    assert spool.pending() == []
    assert spool.kept_aside is not None
    assert str(foreign.id) in spool.kept_aside.read_text()


def test_an_empty_spool_of_another_ledger_is_no_news(spool_of: Opened) -> None:
    spool_of()
    assert spool_of(UUID(int=2)).kept_aside is None


def test_runs_without_a_ledger_are_not_taken_for_ours(spool_of: Opened, tmp_path: Path) -> None:
    spool_of().append(run())
    path = tmp_path / "spool.jsonl"
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    spool = spool_of()
    assert spool.pending() == []
    assert spool.kept_aside is not None


def test_a_full_disk_is_the_nodes_fault_and_keeps_the_spool_whole(
    spool_of: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = spool_of()
    kept, refused = run(0), run(1)
    spool.append(kept)
    monkeypatch.setattr("workers.spool._line", lambda record: _TakenInPart())
    with pytest.raises(JobFailure, match=r"spool\.jsonl: cannot keep a run: No space left") as failure:
        spool.append(refused)
    monkeypatch.undo()
    assert failure.value.kind == "node"
    assert spool.pending() == [kept]
    spool.append(refused)
    assert spool_of().pending() == [kept, refused]


class _TakenInPart(bytes):
    """A line of which a nearly full disk takes nothing."""

    def __len__(self) -> int:
        return 100
