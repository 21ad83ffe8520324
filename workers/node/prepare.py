"""Put a node into the state that a study asks for, and put it back afterwards."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator.contracts.designs import Level
from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind
from orchestrator.contracts.preparation import Cadence, Frequency, Preparation
from workers.benchmarks.engines import Bench
from workers.node import abilities
from workers.node.facts import filesystem, frequency
from workers.node.restore import Changes

logger = logging.getLogger(__name__)

FREQUENCY_FACTOR = "frequency_khz"
TRIM_TIMEOUT_S = 600.0


@dataclass(frozen=True, kw_only=True)
class Node:
    """A prepared node, between `prepared` and its end."""

    wanted: Preparation
    mount: filesystem.Mount | None
    root: Path

    def before_run(self) -> Mapping[str, object]:
        """Do what is to be done before every run; what the node is like now, for the run's `observed`."""
        self.refresh(Cadence.PER_RUN)
        return self._observed()

    def refresh(self, cadence: Cadence) -> None:
        """TRIM first: it reads file-system metadata, which then leaves the cache with everything else."""
        if self.wanted.trim is cadence and self.mount is not None:
            _trim(self.mount.point)
        if self.wanted.drop_caches is cadence:
            os.sync()  # only clean pages can be dropped
            (self.root / abilities.DROP_CACHES).write_text("3")

    def _observed(self) -> dict[str, object]:
        state: dict[str, object] = {"frequency": str(self.wanted.frequency)}
        if self.mount is not None:
            state["file_system"] = self.mount.kind
        if scalings := frequency.read(self.root):
            state["governor"] = scalings[0].governor
            state["frequency_khz"] = [frequency.current_khz(scaling) for scaling in scalings]
        return state


@contextmanager
def prepared(wanted: Preparation, setting: Mapping[str, Level], bench: Bench, root: Path = Path("/")) -> Iterator[Node]:
    """A node as the study wants it for one job, and as it was found afterwards.

    Raises JobFailure (study) naming the first thing that this node cannot do.
    """
    target = bench.target.path
    if missing := abilities.shortfalls(wanted, root, target):
        reason, remedy = missing[0]
        raise JobFailure(FailureKind.STUDY, f"{reason}; `node: {{{remedy}}}` runs the study all the same")
    changes = Changes(bench.state)
    node = Node(wanted=wanted, mount=filesystem.read(root, target), root=root)
    try:
        if wanted.frequency is Frequency.PINNED:
            _pin(setting, changes, root)
        node.refresh(Cadence.PER_JOB)
        yield node
    finally:
        _report(changes.restore())


def restore(bench: Bench) -> None:
    """At the start of an agent: put back what an earlier life changed and could not put back."""
    _report(Changes(bench.state).restore())


def _pin(setting: Mapping[str, Level], changes: Changes, root: Path) -> None:
    """Leave each governor one frequency to choose from."""
    level = setting.get(FREQUENCY_FACTOR)
    if isinstance(level, bool) or not isinstance(level, int):
        raise JobFailure(FailureKind.STUDY, f"node.frequency: pinned wants a factor {FREQUENCY_FACTOR} in whole kHz")
    for scaling in frequency.read(root):
        if not scaling.offers(level):
            raise JobFailure(FailureKind.STUDY, f"CPU {scaling.cpu} of this node does not offer {level} kHz")
        bounds = ["scaling_max_freq", "scaling_min_freq"]
        if scaling.minimum_khz is not None and level < scaling.minimum_khz:
            bounds.reverse()  # the kernel refuses a maximum below the minimum
        for bound in bounds:
            changes.make(scaling.folder / bound, str(level))


def _trim(mount_point: Path) -> None:
    argv = ["fstrim", str(mount_point)]
    environment = {"PATH": f"{os.defpath}:/usr/sbin:/sbin", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            argv, env=environment, capture_output=True, text=True, check=False, timeout=TRIM_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as late:
        raise JobFailure(FailureKind.NODE, f"fstrim {mount_point} took longer than {TRIM_TIMEOUT_S:g} s") from late
    if done.returncode != 0:
        raise JobFailure(FailureKind.STUDY, f"fstrim {mount_point}: {done.stderr.strip()}")


def _report(problems: list[str]) -> None:
    for problem in problems:
        logger.error("not restored: %s", problem)
