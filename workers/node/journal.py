"""What is running on this node, written down before it starts: a restarted agent finds and ends what survived."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind
from workers.node import groups


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    """A benchmark's process group, named so that no recycled pid is ever taken for it."""

    group: int
    boot_id: str
    start_time: int
    """Of the group's leader, in clock ticks since boot."""
    mark: str
    """What its processes carry in their environment (`groups.MARK`)."""


class Journal:
    """One file in the node's state folder; at most one run at a time.

    Not fsynced: after a power loss nothing survives that would have to be ended, and the boot id says so.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "running.json"
        self._boot_id = groups.boot_id()

    def started(self, group: int, mark: str) -> None:
        """A process leads its own group `group` now, and is about to become a benchmark."""
        leader = groups.process(group)
        if leader is None:
            raise ProcessLookupError(group)
        running = Running(group=group, boot_id=self._boot_id, start_time=leader.start_time, mark=mark)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(running)))
        fresh.replace(self._path)

    def ended(self) -> None:
        """Nothing of the run is alive any more."""
        self._path.unlink(missing_ok=True)

    def running(self) -> Running | None:
        """What was written down last and not ended; None as well when the record cannot be read."""
        try:
            return Running(**json.loads(self._path.read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def kill_survivors(self) -> int:
        """End what an earlier life of the agent left; how many processes that were.

        Raises JobFailure (node) when they do not end: no run may start while an earlier one lives.
        """
        running = self.running()
        members = self._survivors(running) if running else []
        if running and members and not groups.kill(running.group):
            raise JobFailure(FailureKind.NODE, f"process group {running.group} of an earlier run does not end")
        self.ended()
        return len(members)

    def _survivors(self, running: Running) -> list[groups.Process]:
        if running.boot_id != self._boot_id:
            return []
        members = groups.living_members(running.group)
        leader = next((member for member in members if member.pid == running.group), None)
        if leader is not None:
            return members if leader.start_time == running.start_time else []
        return members if any(groups.carries(member.pid, running.mark) for member in members) else []
