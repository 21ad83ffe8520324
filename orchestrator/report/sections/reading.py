"""What the words of a report mean."""

from __future__ import annotations

from orchestrator.report.section import Section, Subject


def gather(subject: Subject) -> Section | None:
    """The same for every campaign, but for the name of its metric."""
    return Section(title="How to read this", template="reading.html", content=subject.metric)
