"""Numbers and small rules that both stores keep. What they lead to is written as tests in tests/contract/."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.contracts import engines

ONLINE_S = 45.0
"""A node whose session was silent for longer, and that holds no live lease, is offline."""
LOST_AFTER_S = 15 * 60.0
"""A node that is offline for longer is lost: others do its share, unless the study says to wait for it."""
LEASE_MARGIN_S = 15.0
"""A lease lasts one run's time-out and this much longer (DESIGN 3)."""
STRIKES_TO_QUARANTINE = 3
"""So many node-class failures in a row on different jobs quarantine a node (DESIGN 4)."""
FRUITLESS_TO_SET_ASIDE = 3
"""So many attempts without a new valid run set a job aside (DESIGN 4)."""
GAP_S = 10.0
"""When no controller reconciled for longer, every lease gets that time on top (DESIGN 3)."""
RATE_WINDOW_S = 60.0
"""Runs per second are counted over this much of the past."""


def no_configuration(campaign_id: int, ordinal: int, mode: str) -> str:
    """What is said of a configuration that the design does not have."""
    return f"campaign {campaign_id} has no configuration of setting {ordinal} and mode {mode!r}"


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
