"""The sections of a report, a module each, in the order in which they are read.

A new one: a module here with `gather(subject) -> Section | None`, a template of its name in `templates/sections/`, and
a line below.
"""

from __future__ import annotations

from orchestrator.report.section import Gather
from orchestrator.report.sections import configurations, counts, flagged, nodes, reading

IN_ORDER: tuple[Gather, ...] = (
    flagged.gather,
    counts.gather,
    nodes.gather,
    configurations.gather,
    reading.gather,
)
