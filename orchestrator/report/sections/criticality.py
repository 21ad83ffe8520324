"""Which nodes would hold rounds up: only where two nodes share enough of them."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from orchestrator.campaigns import criticality
from orchestrator.campaigns.criticality import FEWEST_ROUNDS, CampaignCriticality
from orchestrator.report import critical_nodes
from orchestrator.report.section import Section, Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """What was found, and its picture."""

    found: CampaignCriticality
    picture: Markup | None


def gather(subject: Subject) -> Section | None:
    """Nothing where one node measured, or too few rounds can be made of the runs."""
    if sum(share.valid > 0 for share in subject.progress.nodes) < 2:
        return None
    found = criticality.nodes_of(subject.store, subject.campaign.id)
    if found.rounds < FEWEST_ROUNDS:
        return None
    title = "Who holds rounds up" if found.lockstep else "Who would hold rounds up"
    content = Content(found=found, picture=critical_nodes.picture(found.nodes))
    return Section(title=title, template="criticality.html", content=content)
