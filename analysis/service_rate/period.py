"""The sampling period: the longest multiple of the clock's resolution with little blocking.

Beard and Chamberlain (2015), section on the sampling period: begin at the resolution, lengthen while periods come out
as long as they should and pass without blocking, give up where not even short ones do. A longer period holds more
items, but is less likely to pass unblocked (`probabilities.pr_read`).
"""

from collections.abc import Callable
from dataclasses import dataclass

from analysis.errors import BadOptionsError

GROWTH = 2
MOST_BLOCKED = 0.1
"""The share of blocked periods that is still little. Periods that pass unblocked are those of slow service: with half
of them blocked, counts told 10 to 15 % too low a rate of an exponential server (docs/service-rate.md)."""
FEWEST_ITEMS = 2.0
"""Below that mean a count says little: use inter-completion times."""
LARGEST_ERROR = 0.1
"""Relative error of a realised period, where the clock or the scheduler fails it."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What came of some periods of one length: the share that was blocked, realised seconds, items unblocked."""

    blocked_share: float
    realised_s: float
    items: float


@dataclass(frozen=True, kw_only=True)
class Period:
    """The period found; None with the reason where there is none, and inter-completion times are to be used."""

    period_s: float | None
    reason: str


def search(observe: Callable[[float], Trial], *, resolution_s: float, longest_s: float) -> Period:
    """Try periods of 1, 2, 4, ... times `resolution_s`, up to `longest_s`; `observe` makes a trial of one."""
    if not 0 < resolution_s <= longest_s:
        raise BadOptionsError("the clock's resolution is above 0 and at most the longest period")
    found: tuple[float, Trial] | None = None
    realised = blocked = False
    period_s = resolution_s
    while period_s <= longest_s:
        trial = observe(period_s)
        if abs(trial.realised_s - period_s) <= LARGEST_ERROR * period_s:
            realised = True
            if trial.blocked_share > MOST_BLOCKED:
                blocked = True
                break  # longer ones are blocked more often still
            found = (period_s, trial)
        period_s *= GROWTH
    if not realised:
        return Period(period_s=None, reason="the clock kept none of the periods that were tried")
    if found is None:
        return Period(period_s=None, reason="even the shortest period is blocked too often")
    if found[1].items < FEWEST_ITEMS:
        why = "a longer one is blocked" if blocked else "none longer was allowed"
        return Period(period_s=None, reason=f"{found[1].items:.2g} items in the longest period, and {why}")
    return Period(period_s=found[0], reason=f"{found[1].items:.3g} items a period")
