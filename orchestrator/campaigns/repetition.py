"""Which settings of a campaign a re-run measures again, and whether it found the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orchestrator.contracts.campaigns import Campaign, Configuration, Progress
from orchestrator.contracts.errors import ConflictError

INCOMPLETE = "incomplete"
"""Beside the verdicts: the flag of whatever lacks valid runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeated:
    """A configuration measured twice: in a campaign and in its re-run."""

    first: Configuration
    again: Configuration

    @property
    def held(self) -> bool | None:
        """Did both get the same verdict? None while either has none."""
        if self.first.verdict is None or self.again.verdict is None:
            return None
        return self.first.verdict == self.again.verdict


def pairs(first: Iterable[Configuration], again: Iterable[Configuration]) -> tuple[Repeated, ...]:
    """The configurations of `first` that are also in `again`, in the order of `first`."""
    measured_again = {_identity(found): found for found in again}
    return tuple(
        Repeated(first=found, again=measured_again[_identity(found)])
        for found in first
        if _identity(found) in measured_again
    )


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


def _identity(found: Configuration) -> tuple[object, ...]:
    """The same in a campaign and its re-runs, which number their settings anew."""
    return found.control, found.levels, found.mode
