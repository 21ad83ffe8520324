"""Wait for a state, never for a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


def wait_until(reached: Callable[[], bool], what: str, *, within_s: float = 10.0) -> None:
    """Fails naming the state that was not reached."""
    deadline = time.monotonic() + within_s
    pause = threading.Event()
    while not reached():
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
        pause.wait(0.005)
