"""Whether the nodes measured the same, by the canaries that all of them measured at intervals."""

from __future__ import annotations

from orchestrator.campaigns import canaries
from orchestrator.contracts.errors import ConflictError
from orchestrator.report.section import Section, Subject


def gather(subject: Subject) -> Section | None:
    """Nothing without canaries, and before their first run."""
    if not subject.campaign.has_canaries:
        return None
    try:
        found = canaries.canaries(subject.store, subject.campaign.id)
    except ConflictError:
        return None
    return Section(title="Canaries", template="canaries.html", content=found)
