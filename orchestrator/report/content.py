"""A report as one frozen value: gathered from the store once, before a word of it is written."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.contracts.analyses import FLAGGED
from orchestrator.contracts.campaigns import Campaign, Progress
from orchestrator.report.section import Section, Subject
from orchestrator.report.sections import IN_ORDER
from orchestrator.report.settling import settle_sentence
from orchestrator.store.ports import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """A campaign at one moment: the head of the page, and its sections."""

    progress: Progress
    description: str
    flagged: int
    """Configurations with several modes."""
    synthetic: bool
    """Whether there are controls among them."""
    settle: str | None
    """What a reader must know about the benchmark's pauses."""
    sections: tuple[Section, ...]

    @property
    def campaign(self) -> Campaign:
        """Its campaign."""
        return self.progress.campaign


def gather(store: Store, campaign_id: int) -> Report:
    """Ask the store for all of it. Raises NotFoundError."""
    return of(
        Subject(
            store=store,
            progress=store.campaigns.progress(campaign_id),
            study=store.campaigns.study(campaign_id),
            configurations=tuple(store.campaigns.configurations(campaign_id)),
        )
    )


def of(subject: Subject) -> Report:
    """What is said about this campaign: every section that has something to say."""
    found = (gather_one(subject) for gather_one in IN_ORDER)
    return Report(
        progress=subject.progress,
        description=str(subject.study.study.get("description") or ""),
        flagged=sum(one.verdict == FLAGGED for one in subject.configurations),
        synthetic=any(one.control for one in subject.configurations),
        settle=settle_sentence(subject.study),
        sections=tuple(section for section in found if section is not None),
    )
