"""Which part of its settings an active campaign measured, how well the rest is predicted, and what that saved."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import words
from orchestrator.campaigns import choice
from orchestrator.contracts.rounds import ACTIVE, Choice
from orchestrator.report.section import Section, Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The account, in numbers and in words."""

    choice: Choice
    sentences: tuple[str, ...]


def gather(subject: Subject) -> Section | None:
    """Nothing where the study is not active."""
    if ACTIVE not in subject.study.study:
        return None
    found = choice.choice(subject.store, subject.campaign.id)
    content = Content(choice=found, sentences=tuple(words.growth(found)))
    return Section(title="Settings that were chosen", template="choice.html", content=content)
