"""Which configurations a report looks at closely, where it cannot look at all of a large study."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.contracts.campaigns import Configuration


def spread(configurations: Sequence[Configuration], most: int) -> tuple[Configuration, ...]:
    """At most so many of those that are fitted and no controls, spread evenly over the design; the same every time."""
    fitted = [one for one in configurations if one.family is not None and one.control is None]
    if len(fitted) <= most:
        return tuple(fitted)
    return tuple(fitted[place * len(fitted) // most] for place in range(most))
