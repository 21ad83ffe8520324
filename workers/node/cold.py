"""Was the page cache as cold as the study asks for, before each invocation of a run?

What is looked at is all that a drop would take: file pages that nobody has mapped (/proc/meminfo). The benchmark's own
files say nothing: they are made by the invocation itself. Somebody who reads gigabytes between the drop and the run,
and a drop that did nothing, both show here.
"""

from __future__ import annotations

from pathlib import Path

from workers.node.facts import memory


class ColdCache:
    """One a job. After every drop, the next invocation has to find the cache empty."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._due = False
        self._most_kb: int | None = None

    def dropped(self) -> None:
        """The cache was dropped just now."""
        self._due = True

    def look(self) -> None:
        """The last thing before an invocation; costs nothing where no drop was asked for."""
        found = memory.read(self._root) if self._due else None
        if found is not None and found.droppable_kb is not None:
            self._most_kb = max(found.droppable_kb, self._most_kb or 0)
        self._due = False

    def seen_kb(self) -> int | None:
        """The most that was in it before an invocation of the run that ended; None: not asked for, or not told."""
        seen, self._most_kb = self._most_kb, None
        return seen
