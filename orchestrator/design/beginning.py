"""Which settings an active campaign measures first."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from orchestrator.contracts.designs import Design
from orchestrator.contracts.errors import StudyError
from orchestrator.contracts.jobs import PlannedJob

FEWEST = 10
"""Settings: from fewer nothing is predicted."""


def begun(design: Design, jobs: Sequence[PlannedJob], first: float, *, seed: int) -> tuple[Design, list[PlannedJob]]:
    """The design with no replicates but of a part that fills the space, and the jobs of that part and of controls.

    Raises StudyError for a design of too few settings, or one in which no factor varies.
    """
    from analysis.errors import AnalysisError
    from analysis.prediction.active import spread_out

    measured = [setting for setting in design.settings if setting.control is None]
    count = max(FEWEST, round(first * len(measured)))
    if count >= len(measured):
        raise StudyError(f"active: {len(measured)} settings are too few to choose among: {FEWEST} are measured first")
    rows = [[str(level) for level in setting.levels] for setting in measured]
    try:
        chosen = {measured[at].ordinal for at in spread_out(design.factors, rows, count, seed=seed)}
    except AnalysisError as error:
        raise StudyError(f"active: {error}") from error
    later = {setting.ordinal for setting in measured} - chosen
    settings = [dataclasses.replace(one, replicates=0) if one.ordinal in later else one for one in design.settings]
    kept = [job for job in jobs if design.settings[job.setting].ordinal not in later]
    return (
        dataclasses.replace(design, settings=tuple(settings)),
        [dataclasses.replace(job, position=position) for position, job in enumerate(kept)],
    )
