"""The notation of a known mixture, `normal:w,mu,sd;w,mu,sd`: what a control is drawn from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.contracts.errors import StudyError

NOTATION = "write `normal:w,mu,sd;w,mu,sd`, where the weights w sum to 1"
FAMILIES = ("normal", "lognormal")
"""What a control can be drawn from: mu and sd are those of x, or of log x."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Component:
    """One component: its weight, and its family's two parameters: of a normal, mean and standard deviation of x."""

    weight: float
    mean: float
    standard_deviation: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Mixture:
    """A mixture whose truth is known; x is a throughput in kB/s."""

    family: str
    components: tuple[Component, ...]

    @classmethod
    def parse(cls, text: str, families: Sequence[str] = FAMILIES) -> Mixture:
        """Read the notation. Raises StudyError when it is not followed, or for another family."""
        family, _, listed = text.partition(":")
        if family not in families:
            raise StudyError(f"{text!r} is not a mixture: {NOTATION}; the family is one of {', '.join(families)}")
        components = tuple(_component(part, text) for part in listed.split(";"))
        if not math.isclose(sum(component.weight for component in components), 1.0, abs_tol=1e-6):
            raise StudyError(f"{text!r}: the weights do not sum to 1")
        return cls(family=family, components=components)


def _component(part: str, text: str) -> Component:
    try:
        weight, mean, standard_deviation = (float(number) for number in part.split(","))
    except ValueError:
        raise StudyError(f"{text!r} is not a mixture: {NOTATION}") from None
    if not (0 < weight <= 1 and math.isfinite(mean) and 0 < standard_deviation < math.inf):
        raise StudyError(f"{text!r}: {part!r} wants a weight in (0, 1], a finite mean and a positive deviation")
    return Component(weight=weight, mean=mean, standard_deviation=standard_deviation)
