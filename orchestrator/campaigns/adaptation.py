"""What an adaptive campaign has come to: runs saved, precision reached."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from statistics import median
from typing import Any

from orchestrator.contracts.campaigns import Configuration, State
from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.rounds import ADAPTIVE, FIXED, Adaptation
from orchestrator.store.ports import Store


def adaptation(store: Store, campaign_id: int, found: Sequence[Configuration] | None = None) -> Adaptation:
    """Of its configurations `found` (asked for when not given), by their latest fits.

    Raises NotFoundError, and ConflictError where the study is not adaptive.
    """
    campaign = store.campaigns.get(campaign_id)
    options: Any = store.campaigns.study(campaign_id).study.get(ADAPTIVE)
    if options is None:
        raise ConflictError(f"campaign {campaign_id} is not adaptive: its study has no `adaptive:`")
    measured = [one for one in found or store.campaigns.configurations(campaign_id) if one.control is None]
    of_settings = [list(of_one) for _, of_one in groupby(measured, key=lambda one: one.setting_id)]
    fitted = [one for one in measured if one.needed_runs is not None]
    reached = [one.reached for one in fitted if one.reached is not None]
    return Adaptation(
        rounds=tuple(store.rounds.of_campaign(campaign_id)),
        over=campaign.state is not State.RUNNING,
        options=options,
        settings=len(of_settings),
        runs=sum(of_one[0].valid_runs for of_one in of_settings),
        fixed_runs=FIXED * len(of_settings),
        configurations=len(fitted),
        met=sum(error <= 1 for error in reached),
        fixed_met=sum((one.needed_runs or 0) <= FIXED for one in fitted),
        at_max=sum(_is_at_max(of_one, options["max"]) for of_one in of_settings),
        reached_median=median(reached) if reached else None,
        reached_worst=max(reached, default=None),
    )


def _is_at_max(of_setting: Sequence[Configuration], most: int) -> bool:
    needed = max((one.needed_runs or 0 for one in of_setting), default=0)
    return of_setting[0].valid_runs >= most and needed > of_setting[0].valid_runs
