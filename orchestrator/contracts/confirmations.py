"""What a re-run says about a flag: contracts of `analysis.confirmation`, as the ledger keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """What became of a flag. Judged by the new runs alone: the old ones were chosen."""

    CONFIRMED = "confirmed"
    """Multimodal again, and the modes are where they were."""
    CHANGED = "changed"
    """Multimodal again, with other modes."""
    RETRACTED = "retracted"
    """Not multimodal, in enough runs to have shown it with a probability of 80 %."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pooled:
    """The best fit of first and new runs together, where they agree."""

    n: int
    family: str
    components: int
    positions: tuple[float, ...]
    """Of its density modes, in the campaign's unit."""
    shares: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Confirmation:
    """What the re-run of a flagged configuration found."""

    outcome: Outcome
    sentence: str
    n_first: int
    n_again: int
    dip_q: float
    """Of the new runs, over the flagged configurations that were measured again."""
    power: float | None = None
    """Probability that so many new runs would show the first modes; None where they did."""
    pooled: Pooled | None = None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Confirmation:
        """What `analysis.confirmation.Confirmation.as_dict` wrote, also by way of JSON."""
        pooled = values.get("pooled")
        if pooled is not None:
            lists = {name: tuple(pooled[name]) for name in ("positions", "shares")}
            pooled = Pooled(**{**pooled, **lists})
        return cls(**{**values, "outcome": Outcome(values["outcome"]), "pooled": pooled})
