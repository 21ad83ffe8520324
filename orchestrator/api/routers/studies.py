"""Studies that are still being written: what is wrong with one, or what it amounts to. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import APIRouter
from pydantic import Field

from orchestrator.api.access import Ledger, may
from orchestrator.api.models import Value
from orchestrator.contracts.access import Scope
from orchestrator.contracts.designs import Level
from orchestrator.design import picture, problems
from orchestrator.design.check import Summary, summarise
from orchestrator.design.expand import expand
from orchestrator.design.picture import Picture
from orchestrator.design.problems import Problem
from orchestrator.design.study import Study
from orchestrator.store.ports import Store

router = APIRouter(prefix="/studies", tags=["studies"], dependencies=[may(Scope.READ)])


class Draft(Value):
    """A study's text, and who would share the work."""

    study: str = Field(description="The study file, as YAML text.")
    nodes: int | None = Field(
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


@router.post("/check")
def check(body: Draft, store: Ledger) -> StudyCheck:
    """Check a study while it is written: every problem with its line, or counts, estimated duration and a picture."""
    study, found = problems.check(body.study)
    if study is None:
        return StudyCheck(problems=found)
    sharing = body.nodes or len(study.placement.nodes) or _online(store)
    return StudyCheck(summary=summarise(study, nodes=sharing), picture=_picture(study))


def _online(store: Store) -> int | None:
    return sum(node.online for node in store.nodes.all()) or None


def _picture(study: Study) -> DesignPicture | None:
    drawn = picture.of(expand(study))
    return None if drawn is None else _as_data(drawn)


def _as_data(drawn: Picture) -> DesignPicture:
    rows, columns = drawn.levels[drawn.rows], drawn.levels[drawn.columns]
    return DesignPicture(
        rows=drawn.rows,
        columns=drawn.columns,
        third=drawn.third,
        levels=drawn.levels,
        panels=tuple(
            DesignPanel(
                alike=panel.alike, counts=tuple(tuple(panel.cells[row, column] for column in columns) for row in rows)
            )
            for panel in drawn.panels
        ),
        fullest=drawn.fullest,
    )
