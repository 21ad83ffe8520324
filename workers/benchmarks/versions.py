"""What a program says when it is asked for its version: asked once, until somebody installs another."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

ANSWER_TIMEOUT_S = 30.0


def version_text(program: str, option: str) -> str:
    """Its standard output; a job need not start a program to learn what the last one knew."""
    there = Path(program).stat()
    return _asked(program, option, (there.st_dev, there.st_ino, there.st_mtime_ns, there.st_size))


@functools.lru_cache(maxsize=16)
def _asked(program: str, option: str, _stamp: tuple[int, ...]) -> str:
    done = subprocess.run([program, option], capture_output=True, text=True, check=False, timeout=ANSWER_TIMEOUT_S)
    return done.stdout
