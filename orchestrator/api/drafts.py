"""Studies that are still being written, over the wire; apart from the other models, for it knows what a study is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from orchestrator.api.models import Value, Whole
from orchestrator.contracts.designs import Level
from orchestrator.design.check import Summary
from orchestrator.design.problems import MOST_ENUMERATED, Problem


class Draft(Value):
    """A study's text, and who would share the work."""

    study: str = Field(description="The study file, as YAML text.")
    nodes: Whole | None = Field(
        default=None, ge=1, le=100_000, description="Nodes that share the work; those online when not given."
    )


class DesignPanel(Value):
    """One matrix of a picture."""

    alike: tuple[Level, ...] = Field(description="Levels of the third factor that all look like this.")
    counts: tuple[tuple[int, ...], ...] = Field(description="Configurations in each cell, row by row.")


class DesignPicture(Value):
    """Which combinations of levels are covered, as `modescope design check` draws it."""

    rows: str = Field(description="A factor, or `mode`.")
    columns: str
    third: str = Field(description="The factor of the panels; empty where there is none.")
    levels: Mapping[str, Sequence[Level]]
    panels: tuple[DesignPanel, ...]
    fullest: int = Field(description="Configurations in the fullest cell.")


class StudyCheck(Value):
    """What is wrong with a study, in the order of its lines; or what it amounts to."""

    problems: tuple[Problem, ...] = ()
    summary: Summary | None = Field(default=None, description="Counts, estimated duration, warnings.")
    picture: DesignPicture | None = Field(default=None, description="Null also for designs too large to be drawn.")
    too_large: int | None = Field(
        default=None,
        description=f"So many configurations at most, more than {MOST_ENUMERATED:,}: they are not counted "
        "before the study is submitted, and there is no summary.",
    )
