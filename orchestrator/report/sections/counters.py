"""What counters say: which tell modes apart, and which go with runtime and power over the settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator import words
from orchestrator.campaigns import counters
from orchestrator.campaigns.counters import Apart, CampaignModel
from orchestrator.contracts.errors import ConflictError
from orchestrator.report.section import Section, Subject

MOST = 20
"""Configurations whose modes are told apart in the report; the page of each has its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One flagged configuration."""

    title: str
    found: Apart


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """Models over the settings, and modes told apart."""

    model: CampaignModel
    flagged: int
    rows: tuple[Row, ...]


def gather(subject: Subject) -> Section | None:
    """Nothing where nothing was counted."""
    model = counters.model(subject.store, subject.campaign.id)
    if not any(model.had.values()):
        return None
    flagged = sum(one.verdict == "multimodal" and one.control is None for one in subject.configurations)
    content = Content(model=model, flagged=flagged, rows=tuple(_rows(subject)))
    return Section(title="Counters", template="counters.html", content=content)


def _rows(subject: Subject) -> Iterator[Row]:
    multimodal = [one for one in subject.configurations if one.verdict == "multimodal" and one.control is None]
    for one in multimodal[:MOST]:
        try:
            found = counters.apart(subject.store, one.campaign_id, one.setting_id, one.mode)
        except ConflictError:  # its runs counted nothing, or too few lie in one mode
            continue
        yield Row(title=words.title(subject.campaign.factors, one), found=found)
