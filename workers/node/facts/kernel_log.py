"""The kernel's log, /dev/kmsg: what was said since a sequence number, and which of it is an error."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

RECORD_BYTES = 8192
"""No record is longer (Documentation/ABI/testing/dev-kmsg)."""
ERROR = 3
"""KERN_ERR; what is worse has a smaller number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One record."""

    level: int
    """0 (emergency) to 7 (debug)."""
    sequence: int
    text: str

    @property
    def is_error(self) -> bool:
        """KERN_ERR or worse."""
        return self.level <= ERROR


def parse(record: str) -> Line:
    """Read `priority,sequence,microseconds,flags;text`, and the continuation lines after it, which are left out."""
    head, _, text = record.partition(";")
    priority, sequence, *_ = head.split(",")
    return Line(level=int(priority) & 7, sequence=int(sequence), text=text.split("\n", 1)[0])


def readable(root: Path) -> bool:
    """May this process read the log?"""
    return os.access(root / "dev/kmsg", os.R_OK)


class Tail:
    """The log from now on. Where it may not be read, `new` is None: that is no silence."""

    def __init__(self, root: Path) -> None:
        try:
            self._descriptor = os.open(root / "dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError:
            self._descriptor = -1

    def new(self) -> tuple[Line, ...] | None:
        """What was said since the last call."""
        if self._descriptor < 0:
            return None
        found = []
        while (record := self._next()) is not None:
            found.append(parse(record))
        return tuple(found)

    def close(self) -> None:
        """Give the descriptor back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _next(self) -> str | None:
        try:
            return os.read(self._descriptor, RECORD_BYTES).decode(errors="replace") or None
        except BlockingIOError:
            return None
        except BrokenPipeError:  # older records were overwritten before we came: go on with the oldest that is left
            return self._next()
