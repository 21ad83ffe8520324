"""What a reader of traces hands over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.criticality import Trace


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A trace, and one line that tells what was read."""

    trace: Trace
    told: str
