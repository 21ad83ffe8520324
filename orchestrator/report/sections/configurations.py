"""All configurations as a table, the flagged ones first."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.contracts.analyses import FLAGGED
from orchestrator.contracts.campaigns import Configuration
from orchestrator.report.section import Section, Subject

ROWS_SHOWN = 300
"""A table of all configurations of a large study belongs into a file, not onto paper."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The rows, and how many there would be."""

    rows: tuple[Configuration, ...]
    configurations: int


def gather(subject: Subject) -> Section | None:
    """The first of them."""
    rows = sorted(subject.configurations, key=lambda found: found.verdict != FLAGGED)[:ROWS_SHOWN]
    content = Content(rows=tuple(rows), configurations=len(subject.configurations))
    return Section(title="All configurations", template="configurations.html", content=content)
