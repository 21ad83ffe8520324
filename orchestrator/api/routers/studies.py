"""Studies that are still being written: what is wrong with one, or what it amounts to. Nothing is stored."""

from __future__ import annotations

from fastapi import APIRouter

from orchestrator.api.access import Ledger, may
from orchestrator.api.drafts import DesignPanel, DesignPicture, Draft, StudyCheck
from orchestrator.contracts.access import Scope
from orchestrator.design import picture, problems
from orchestrator.design.check import summarise
from orchestrator.design.expand import expand
from orchestrator.design.picture import Picture
from orchestrator.design.study import Study
from orchestrator.store.ports import Store

router = APIRouter(prefix="/studies", tags=["studies"], dependencies=[may(Scope.READ)])


@router.post("/check")
def check(body: Draft, store: Ledger) -> StudyCheck:
    """Check a study while it is written: every problem with its line, or counts, estimated duration and a picture."""
    study, found = problems.check(body.study)
    if study is None:
        return StudyCheck(problems=found)
    if study.most_configurations > problems.MOST_ENUMERATED:
        return StudyCheck(too_large=study.most_configurations)
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
