"""What a flag is worth: how often synthetic controls of known truth were flagged and confirmed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.campaigns.calibration import calibration
from orchestrator.contracts.calibration import Rate
from orchestrator.report.section import Section, Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """Rates that have something to be counted."""

    rates: Mapping[str, Rate]
    """What -> how many of how many."""
    false_flags_known: bool
    """Whether there are controls with one mode."""


def gather(subject: Subject) -> Section | None:
    """Nothing where there are no controls."""
    if not any(one.control and one.verdict for one in subject.configurations):
        return None
    found = calibration(subject.store, subject.campaign.id)
    rates = {
        "with one mode, flagged: false flags": found.false_flags,
        "with one mode, confirmed by a re-run: false confirmations": found.false_confirmations,
        "with several modes, flagged": found.found,
        "with several modes and measured again, confirmed": found.confirmed,
    }
    content = Content(
        rates={what: rate for what, rate in rates.items() if rate.of}, false_flags_known=found.false_flags.of > 0
    )
    return Section(title="What a flag is worth", template="controls.html", content=content)
