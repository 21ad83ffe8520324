"""A study that somebody is writing: its text, what is wrong with it, what it amounts to, what it looks like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from markupsafe import Markup

from orchestrator.contracts.nodes import Node
from orchestrator.design import problems
from orchestrator.design.check import Summary, summarise
from orchestrator.design.expand import expand
from orchestrator.design.problems import Problem
from orchestrator.design.study import Study
from orchestrator.web.content import design_picture


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A text on its way to becoming a campaign."""

    text: str
    key: str
    """Of this page: the same study sent twice from it is one campaign."""
    problems: tuple[Problem, ...] = ()
    summary: Summary | None = None
    too_large: int | None = None
    """So many configurations at most: too many to be counted while somebody types."""
    picture: Markup | None = None
    lacks_engine: str | None = None
    """No node that is known has it."""

    @property
    def wrong_lines(self) -> frozenset[int]:
        """Lines with a problem, from 1."""
        return frozenset(problem.line for problem in self.problems if problem.line is not None)


def examine(text: str, nodes: Sequence[Node], *, key: str | None = None) -> Draft:
    """Check a text; an empty one has neither problems nor counts."""
    kept = key or str(uuid4())
    if not text.strip():
        return Draft(text=text, key=kept)
    study, found = problems.check(text)
    if study is None:
        return Draft(text=text, key=kept, problems=found)
    if study.most_configurations > problems.MOST_ENUMERATED:
        return Draft(text=text, key=kept, too_large=study.most_configurations)
    at_work = [node for node in nodes if node.online]
    return Draft(
        text=text,
        key=kept,
        summary=summarise(study, nodes=len(study.placement.nodes) or len(at_work) or None),
        picture=design_picture.draw(expand(study)),
        lacks_engine=_lacks(study, nodes),
    )


def _lacks(study: Study, nodes: Sequence[Node]) -> str | None:
    name = study.engine.name
    return None if not nodes or name == "replay" or any(name in node.engines for node in nodes) else name
