"""One number for all values of a table, the same whether they come from the ledger or from a file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


class Digest:
    """SHA-256 of rows in order, a line each: numbers in their shortest exact form, None for NULL."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self.rows = 0

    def over(self, batches: Iterable[Sequence[tuple[Any, ...]]]) -> Iterator[Sequence[tuple[Any, ...]]]:
        """Pass batches on, and count them in."""
        for batch in batches:
            self.rows += len(batch)
            for row in batch:
                self._sha256.update(repr(row).encode())
                self._sha256.update(b"\n")
            yield batch

    def all(self, batches: Iterable[Sequence[tuple[Any, ...]]]) -> Digest:
        """Count in everything, keep nothing."""
        for _ in self.over(batches):
            pass
        return self

    @property
    def value(self) -> str:
        """Hexadecimal."""
        return self._sha256.hexdigest()
