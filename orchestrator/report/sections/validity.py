"""Which runs count, which do not and why, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from orchestrator.report.section import Section, Subject

REASONS = 30
"""Of those that are told one by one, the most frequent; reasons that carry numbers can be many."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """Runs by what became of them."""

    expected: int
    valid: int
    discard: int
    """First runs of every job that are set aside as warm-up."""
    superseded: int
    invalid: Mapping[str, int]
    """Reason -> runs, the most frequent first."""
    other_reasons: int
    """Reasons that are not told."""
    other_invalid: int
    """Runs that are invalid for one of them."""
    missing: Mapping[str, int]
    """Reason -> (setting, replicate) pairs that have no valid run."""

    @property
    def made(self) -> int:
        """All runs that were made."""
        return self.valid + self.superseded + sum(self.invalid.values()) + self.other_invalid


def gather(subject: Subject) -> Section | None:
    """Nothing before the first run."""
    progress = subject.progress
    reasons = subject.store.campaigns.invalid_reasons(subject.campaign.id)
    told = dict(islice(reasons.items(), REASONS))
    content = Content(
        expected=progress.campaign.expected_runs,
        valid=progress.valid_runs,
        discard=int(str(subject.study.analysis_options.get("discard", 0))),
        superseded=sum(share.superseded for share in progress.nodes),
        invalid=told,
        other_reasons=len(reasons) - len(told),
        other_invalid=sum(reasons.values()) - sum(told.values()),
        missing=progress.campaign.missing,
    )
    return Section(title="Validity of runs", template="validity.html", content=content) if content.made else None
