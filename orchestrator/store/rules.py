"""Numbers and small rules that both stores keep. What they lead to is written as tests in tests/contract/."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from orchestrator.contracts import engines
from orchestrator.contracts.analyses import OptionChange
from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import ConflictError, RequestError
from orchestrator.contracts.job_logs import FileSystem
from orchestrator.contracts.rates import Forecast

ONLINE_S = 45.0
"""A node whose session was silent for longer, and that holds no live lease, is offline."""
LOST_AFTER_S = 15 * 60.0
"""A node that is offline for longer is lost: others do its share, unless the study says to wait for it."""
LEASE_MARGIN_S = 15.0
"""A lease lasts one run's time-out and this much longer (DESIGN 3)."""
ANALYSIS_LEASE_S = 30.0
"""A batch of analyses whose worker was not heard of for longer is another's."""
STRIKES_TO_QUARANTINE = 3
"""So many node-class failures in a row on different jobs quarantine a node (DESIGN 4)."""
FRUITLESS_TO_SET_ASIDE = 3
"""So many attempts without a new valid run set a job aside (DESIGN 4)."""
GAP_S = 10.0
"""When no controller reconciled for longer, every lease gets that time on top (DESIGN 3)."""
RATE_WINDOW_S = 60.0
"""Runs per second are counted over this much of the past."""
FORECAST_LASTS_S = 300.0
"""What a controller told of the time left, and did not tell again for longer, is not shown any more."""
ROUND_WAIT_S = 60.0
"""Who is ready for a round waits for the others at most so long, unless the study says otherwise."""
ROUND_LEAD_S = 0.1
"""From the moment when all are ready to their start, beside two times the pause between their questions."""


TIMED = 20
"""Replicates of a setting that tell how long one takes: a page asks for thousands of settings."""


def no_campaign(campaign_id: int) -> str:
    """What is said of a campaign that is not there."""
    return f"there is no campaign {campaign_id}; `modescope campaign list` shows those there are"


def no_configuration(campaign_id: int, setting_id: int, mode: str) -> str:
    """What is said of a configuration that the design does not have."""
    return f"campaign {campaign_id} has no configuration of setting {setting_id} and mode {mode!r}"


def no_run(campaign_id: int, run_id: UUID) -> str:
    """What is said of a run that is not there."""
    return f"campaign {campaign_id} has no run {run_id}"


def places_of(campaign_id: int, factors: Sequence[str], levels: Mapping[str, str]) -> dict[int, str]:
    """Place of the factor -> wanted level. Raises RequestError for a factor that the campaign does not have."""
    for factor in levels:
        if factor not in factors:
            known = ", ".join(factors)
            raise RequestError(f"level.{factor}: campaign {campaign_id} has no such factor, only {known}")
    return {factors.index(factor): level for factor, level in levels.items()}


def as_number(text: str) -> float | None:
    """What `4`, `4.0` and `4e0` have in common; None for what is no finite number."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def changed_options(first: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, OptionChange]:
    """Of the options that differ from those that were submitted first."""
    names = sorted({*first, *options})
    return {
        name: OptionChange(submitted=first.get(name), here=options.get(name))
        for name in names
        if first.get(name) != options.get(name)
    }


def still_running(campaign_id: int) -> str:
    """What is said to who wants to change the analysis of a campaign that is being measured."""
    return (
        f"campaign {campaign_id} is still running: its analysis may be changed when it has ended; "
        f"follow it with `modescope campaign watch {campaign_id}`"
    )


def no_version(campaign_id: int, number: int) -> str:
    """What is said of a version of the analysis that is not there."""
    return f"campaign {campaign_id} has no version {number} of its analysis"


def same_options(campaign_id: int, number: int) -> str:
    """What is said of options that a version has already."""
    return (
        f"campaign {campaign_id}: version {number} of its analysis has exactly these options; "
        f"`modescope campaign analyse {campaign_id} --version {number}` shows it"
    )


def round_wait_s(study: Mapping[str, Any]) -> float:
    """How long those who are ready wait for the rest of their round (placement `lockstep`)."""
    placement = study.get("placement")
    wait_s = placement.get("wait_s") if isinstance(placement, dict) else None
    return ROUND_WAIT_S if wait_s is None else float(wait_s)


def ask_again_s(members: int) -> float:
    """The pause between questions when a round begins: all together ask at most five hundred times a second."""
    return max(0.05, 0.002 * members)


def no_job(campaign_id: int, job_id: int) -> str:
    """What is said of a job that the campaign does not have."""
    return f"campaign {campaign_id} has no job {job_id}"


def engine_for(
    control: str | None, engine: str, engine_options: Mapping[str, object], controls: Mapping[str, Mapping[str, object]]
) -> tuple[str, Mapping[str, object]]:
    """Engine and options for one setting: a control is played back, whatever the study measures with."""
    return (engine, engine_options) if control is None else ("replay", controls[control])


def lease_s(engine: str, engine_options: Mapping[str, object]) -> float:
    """How long a lease lasts, from what one run may take."""
    return engines.options(engine, engine_options).timeout_s + LEASE_MARGIN_S


def time_left(state: State, told: Forecast | None) -> dict[str, float | None]:
    """`Progress.time_left_s` and its interval: what was told; nothing is left of what has ended."""
    if state is not State.RUNNING:
        return dict.fromkeys(("time_left_s", "time_left_low_s", "time_left_high_s"), 0.0)
    if told is None:
        return {"time_left_s": None}
    return {
        "time_left_s": told.time_left_s,
        "time_left_low_s": told.time_left_low_s,
        "time_left_high_s": told.time_left_high_s,
    }


def other_parts(file_system: FileSystem) -> ConflictError:
    """What is raised of samples whose numbers would be of other parts than those of earlier samples."""
    return ConflictError(
        f"file system {file_system.name} is known with other OSTs or servers: samples of both cannot be compared"
    )
