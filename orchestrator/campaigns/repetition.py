"""Which settings of a campaign a re-run measures again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from orchestrator.contracts.campaigns import Campaign, Configuration, Progress
from orchestrator.contracts.errors import ConflictError

INCOMPLETE = "incomplete"
"""Beside the verdicts: the flag of whatever lacks valid runs."""


def ordinals(flag: str, progress: Progress, configurations: Sequence[Configuration]) -> tuple[int, ...]:
    """The ordinals of the settings that have a configuration with this flag, in order.

    All modes of such a setting are measured again: they come from one invocation.
    Raises ConflictError when the verdicts are not final, or nothing carries the flag.
    """
    campaign = progress.campaign
    if flag == INCOMPLETE:
        chosen = {found.ordinal for found in configurations if found.valid_runs < campaign.replicates}
    else:
        _check_final(flag, progress)
        chosen = {found.ordinal for found in configurations if found.verdict == flag}
    if not chosen:
        raise ConflictError(_nothing(flag, campaign, configurations))
    return tuple(sorted(chosen))


def _check_final(flag: str, progress: Progress) -> None:
    if not progress.verdicts_final:
        raise ConflictError(
            f"campaign {progress.campaign.id}: its verdicts are not final yet "
            f"({progress.analyses_done} of {progress.analyses_total} configurations analysed); "
            f"wait with `modescope campaign watch {progress.campaign.id}`, then re-run what is {flag}"
        )


def _nothing(flag: str, campaign: Campaign, configurations: Sequence[Configuration]) -> str:
    verdicts = Counter(found.verdict for found in configurations if found.verdict)
    known = ", ".join(f"{verdict} {count}" for verdict, count in verdicts.most_common()) or "no verdict yet"
    return f"campaign {campaign.id}: none of its configurations is {flag!r} ({known}); nothing to re-run"
