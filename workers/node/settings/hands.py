"""Who touches the system: this process itself, or a helper with more rights."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Protocol

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind
from workers.node.settings.disk import PROGRAMS

TRIM_TIMEOUT_S = 600.0
ONLY_BY_HELPER = "only the root helper does that (deploy/modescope-root-helper), and it is not installed"
"""Also for root: there is one place that checks what is destroyed."""


class Hands(Protocol):
    """The few things that take rights."""

    def may_write(self, path: Path) -> bool:
        """Could `write` succeed?"""

    def may_trim(self) -> bool:
        """Could `trim` succeed?"""

    def may_discard(self) -> bool:
        """Could `discard` succeed?"""

    def write(self, path: Path, value: str) -> None:
        """Put a word into a file of /sys or /proc. Raises OSError."""

    def trim(self, mount_point: Path) -> None:
        """Raises JobFailure (study: it cannot be done here; node: it does not end)."""

    def discard(self, name: str) -> None:
        """Empty the device that root has dedicated under this name. Raises JobFailure as `trim`."""


class Own:
    """This process's own rights."""

    def may_write(self, path: Path) -> bool:
        return os.access(path, os.W_OK)

    def may_trim(self) -> bool:
        return os.geteuid() == 0

    def may_discard(self) -> bool:
        return False

    def write(self, path: Path, value: str) -> None:
        path.write_text(value)

    def trim(self, mount_point: Path) -> None:
        environment = {"PATH": PROGRAMS, "LC_ALL": "C"}
        argv = ["fstrim", str(mount_point)]
        try:
            done = subprocess.run(
                argv, env=environment, capture_output=True, text=True, check=False, timeout=TRIM_TIMEOUT_S
            )
        except subprocess.TimeoutExpired as late:
            raise JobFailure(FailureKind.NODE, f"fstrim {mount_point} took longer than {TRIM_TIMEOUT_S:g} s") from late
        if done.returncode != 0:
            raise JobFailure(FailureKind.STUDY, f"fstrim {mount_point}: {done.stderr.strip()}")

    def discard(self, name: str) -> None:
        raise JobFailure(FailureKind.STUDY, f"device {name!r} is not discarded: {ONLY_BY_HELPER}")
