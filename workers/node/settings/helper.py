"""Hands of a process that is not root: all changes go through one root-owned helper, deploy/modescope-root-helper."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind
from workers.node.settings.hands import TRIM_TIMEOUT_S, Hands, Own

HELPER = Path("/usr/local/sbin/modescope-root-helper")
WRITE_TIMEOUT_S = 60.0
"""Dropping caches writes everything back first."""


def chosen(helper: Path = HELPER) -> Hands:
    """Our own for root, and where there is no helper; whoever we are, devices are discarded by the helper alone."""
    if not helper.exists():
        return Own()
    return Root(helper) if os.geteuid() == 0 else Helped(("sudo", "-n", str(helper)))


class Helped:
    """Requests to the helper; what it refuses is an error with its line."""

    def __init__(self, argv: tuple[str, ...]) -> None:
        self.argv = argv

    def may_write(self, path: Path) -> bool:
        """Whether it is there: what the helper refuses, `write` tells."""
        return path.exists()

    def may_trim(self) -> bool:
        return True

    def may_discard(self) -> bool:
        return True

    def write(self, path: Path, value: str) -> None:
        said = self._ask({"do": "write", "path": str(path), "value": value}, WRITE_TIMEOUT_S)
        if said is not None:
            raise PermissionError(1, said, str(path))

    def trim(self, mount_point: Path) -> None:
        said = self._ask({"do": "trim", "mount_point": str(mount_point)}, TRIM_TIMEOUT_S)
        if said is not None:
            raise JobFailure(FailureKind.STUDY, said)

    def discard(self, name: str) -> None:
        said = self._ask({"do": "discard", "name": name}, TRIM_TIMEOUT_S)
        if said is not None:
            raise JobFailure(FailureKind.STUDY, said)

    def _ask(self, request: dict[str, str], timeout_s: float) -> str | None:
        """What it said against it; None when it is done."""
        try:
            done = subprocess.run(
                self.argv, input=json.dumps(request), capture_output=True, text=True, check=False, timeout=timeout_s
            )
        except subprocess.TimeoutExpired as late:
            raise JobFailure(FailureKind.NODE, f"the root helper took longer than {timeout_s:g} s") from late
        return None if done.returncode == 0 else (done.stderr.strip() or "the root helper failed without a word")


class Root(Own):
    """Root's own rights, but for what destroys data."""

    def __init__(self, helper: Path) -> None:
        self._helped = Helped((str(helper),))

    def may_discard(self) -> bool:
        return True

    def discard(self, name: str) -> None:
        self._helped.discard(name)
