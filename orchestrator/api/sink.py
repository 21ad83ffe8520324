"""Where a writer of files writes what is streamed."""

from __future__ import annotations

import io
from typing import Any


class Sink(io.RawIOBase):
    """A file that only ever grows, and gives away what was written to it."""

    def __init__(self) -> None:
        self._written: list[bytes] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._written.append(piece)
        self._length += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._length

    def take(self) -> bytes:
        """Everything since the last time."""
        taken = b"".join(self._written)
        self._written.clear()
        return taken
