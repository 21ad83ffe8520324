"""Ctrl-C, SIGTERM and a closed terminal all mean the same: stop in order."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def on_request() -> Iterator[None]:
    """The first request raises KeyboardInterrupt in the main thread; later ones do not disturb the stopping."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        for number in REQUESTS:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    earlier = {number: signal.signal(number, stop) for number in REQUESTS}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
