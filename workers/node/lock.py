"""One agent a node, and nobody else who would change its settings: a file that is locked."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from orchestrator.contracts.errors import ConflictError


def hold(state: Path) -> IO[str]:
    """The lock is held until the file is closed, or the process ends. Raises ConflictError."""
    state.mkdir(parents=True, exist_ok=True)
    file = (state / "agent.lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as taken:
        file.close()
        raise ConflictError(
            f"another agent works for this node: {state / 'agent.lock'} is locked; stop it first"
        ) from taken
    return file
