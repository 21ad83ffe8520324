"""How an adaptive campaign grew, what it saved, and how precise it is."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import words
from orchestrator.campaigns import adaptation
from orchestrator.contracts.rounds import ADAPTIVE, Adaptation
from orchestrator.report.section import Section, Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The account, in numbers and in words."""

    adaptation: Adaptation
    sentences: tuple[str, ...]


def gather(subject: Subject) -> Section | None:
    """Nothing where the study is not adaptive."""
    if ADAPTIVE not in subject.study.study:
        return None
    found = adaptation.adaptation(subject.store, subject.campaign.id, subject.configurations)
    content = Content(adaptation=found, sentences=tuple(words.growth(found)))
    return Section(title="Runs that followed the fits", template="adaptation.html", content=content)
