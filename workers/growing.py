"""What follows a round of a campaign that grows: one policy a way to grow, chosen by its name in the study.

A policy reads what was measured and found through the store, and says how many runs each setting shall have. It decides
nothing twice: the store takes a decision once, for the round that it is about (`ports.Rounds.decide`), so that any
number of workers may ask, and one that dies leaves the round to the next.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from itertools import groupby

from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.rounds import ACTIVE, ADAPTIVE, Decision, Due, Growth
from orchestrator.store.ports import Store
from workers.choosing import active

logger = logging.getLogger(__name__)

Policy = Callable[[Store, Due, Growth], Decision]
"""Of the round that is due, with the options in `growth`; the same for the same runs and fits."""


def adaptive(store: Store, due: Due, growth: Growth) -> Decision:
    """Every setting gets as many runs as the most demanding of its configurations asks for, up to the maximum."""
    most = int(str(growth.options["max"]))
    found = store.campaigns.configurations(due.campaign_id)
    wanted: dict[int, int] = {}
    counts = dict.fromkeys(("met", "at_max", "no_fit", "incomplete"), 0)
    for setting_id, of_setting in groupby(found, key=lambda one: one.setting_id):
        configurations = list(of_setting)
        runs, standing = _next(configurations, most)
        if runs is None:
            counts[standing] += 1
        else:
            wanted[setting_id] = runs
    return Decision(number=due.number, replicates=wanted, record=counts)


def _next(configurations: list[Configuration], most: int) -> tuple[int | None, str]:
    """How many runs a setting shall have next; None, and why, where it gets no more."""
    first = configurations[0]
    needed = [one.needed_runs for one in configurations if one.needed_runs is not None]
    if first.valid_runs < first.replicates:
        return None, "incomplete"
    if not needed:
        return None, "no_fit"
    if max(needed) <= first.replicates:
        return None, "met"
    if first.replicates >= most:
        return None, "at_max"
    return min(max(needed), most), "grows"


POLICIES: Mapping[str, Policy] = {ACTIVE: active, ADAPTIVE: adaptive}


def decide(store: Store) -> int:
    """Decide whatever is due; how many rounds that were. One of a policy not known here is left to a newer worker."""
    decided = 0
    for due in store.rounds.due():
        growth = store.campaigns.study(due.campaign_id).growth
        if growth is None or growth.policy not in POLICIES:
            logger.warning("campaign %d grows in a way that this worker does not know", due.campaign_id)
        else:
            decided += store.rounds.decide(due.campaign_id, POLICIES[growth.policy](store, due, growth))
    return decided
