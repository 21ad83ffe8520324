"""How well a run is told by what was known when it began: earlier runs, and what their nodes were like."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.job_logs import kept
from orchestrator.report import job_logs
from orchestrator.report.section import Section, Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The account, and how much is to be explained."""

    told: job_logs.Content
    within: float | None
    """The largest R² within keys that our model has for a direction; None where nothing varies."""


def gather(subject: Subject) -> Section | None:
    """Nothing where runs tell no numbers of their nodes, or too few do."""
    found = kept.of_campaign(subject.store, subject.campaign.id)
    if found is None:
        return None
    told = job_logs.content_of(found, seed=0, place=None)
    shares = [models["best"]["within_r2"] for by_place in told.scores.values() for models in by_place.values()]
    within = max((share for share in shares if share is not None), default=None)
    return Section(title="Runs told beforehand", template="own_runs.html", content=Content(told=told, within=within))
