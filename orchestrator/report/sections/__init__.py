"""The sections of a report, a module each, in the order in which they are read.

A new one: a module here with `gather(subject) -> Section | None`, a template of its name in `templates/sections/`, and
a line below.
"""

from __future__ import annotations

from orchestrator.report.section import Gather
from orchestrator.report.sections import (
    adaptation,
    canaries,
    choice,
    configurations,
    controls,
    counters,
    criticality,
    flagged,
    methods,
    nodes,
    own_runs,
    predictions,
    reading,
    sample_sizes,
    shapes,
    tables,
    validity,
    versions,
)

IN_ORDER: tuple[Gather, ...] = (
    versions.gather,
    tables.gather,
    shapes.gather,
    flagged.gather,
    controls.gather,
    counters.gather,
    sample_sizes.gather,
    adaptation.gather,
    choice.gather,
    predictions.gather,
    nodes.gather,
    own_runs.gather,
    criticality.gather,
    canaries.gather,
    validity.gather,
    methods.gather,
    configurations.gather,
    reading.gather,
)
