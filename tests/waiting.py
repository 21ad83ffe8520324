"""Wait for a state of the service, never for a time; a failure says what was seen last."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")

LOOK_EVERY_S = 0.1


def wait_for(
    what: str, look: Callable[[], Seen], holds: Callable[[Seen], object] = bool, *, within_s: float = 180.0
) -> Seen:
    """Look until it holds, and return what was seen. Raises AssertionError."""
    deadline = time.monotonic() + within_s
    while not holds(seen := look()):
        assert time.monotonic() < deadline, f"{what}: not within {within_s:g} s; last seen: {seen}"
        time.sleep(LOOK_EVERY_S)
    return seen
