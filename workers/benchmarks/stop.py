"""A flag that ends the run in flight, and that can be waited for together with a process."""

from __future__ import annotations

import os
import select

LONGEST_WAIT_S = 1e6
"""poll(2) counts milliseconds in 31 bits."""


class Stop:
    """Set from a signal handler or another thread; a run in flight then ends with its whole process group.

    An eventfd and not a threading.Event, so that one `poll` waits for it, the process and its output: while a
    benchmark runs the agent never wakes up to look.
    """

    def __init__(self) -> None:
        self._descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def set(self) -> None:
        """End the run in flight now, and let no other start."""
        os.eventfd_write(self._descriptor, 1)

    def clear(self) -> None:
        """Let runs start again."""
        if self.is_set():
            os.eventfd_read(self._descriptor)

    def is_set(self) -> bool:
        """Has `set` been called since the last `clear`?"""
        return self.wait(0.0)

    def wait(self, timeout_s: float) -> bool:
        """Wait until set, at most `timeout_s`; whether it is set."""
        poller = select.poll()
        poller.register(self._descriptor, select.POLLIN)
        return bool(poller.poll(min(timeout_s, LONGEST_WAIT_S) * 1000))

    def fileno(self) -> int:
        """Readable while set."""
        return self._descriptor

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._descriptor)
