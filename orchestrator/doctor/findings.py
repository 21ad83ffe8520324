"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One part, how it stands, and what to do."""

    part: str
    seen: str
    do: str | None = None
    """One line; None: all is well."""

    @property
    def fine(self) -> bool:
        """Nothing to do."""
        return self.do is None
