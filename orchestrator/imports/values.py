"""What a reader finds: values one by one with where they came from, and what it had to leave out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from orchestrator.contracts.designs import Level

NODE = "import"
"""Of results that name none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """One value of one run."""

    levels: tuple[Level, ...]
    """In the order of the reader's factors."""
    mode: str
    value: float | None
    """None: the run failed."""
    node: str = NODE
    job: str = ""
    replicate: str = ""
    """'': the place among the values of its setting, mode, node and job says which run it is of."""
    started_at: float | None = None
    elapsed_s: float | None = None
    valid: bool = True
    reason: str | None = None


@dataclass(kw_only=True, slots=True)
class Skipped:
    """What is left out, counted by reason, each with the first place."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, place: str, count: int = 1) -> None:
        """Leave something out."""
        self.counts[reason] += count
        self.first.setdefault(reason, place)

    def as_rows(self) -> list[tuple[str, int, str]]:
        """Reason, how many, and the first place; the most frequent first."""
        return [(reason, count, self.first[reason]) for reason, count in self.counts.most_common()]
