"""Which version of the analysis this is, where it was changed after the runs could be seen."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.contracts.analyses import AnalysisVersion
from orchestrator.report.section import Section, Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """All versions; one is shown."""

    versions: tuple[AnalysisVersion, ...]

    @property
    def shown(self) -> AnalysisVersion:
        """The one that this report is about."""
        return next(one for one in self.versions if one.shown)


def gather(subject: Subject) -> Section | None:
    """Nothing where the analysis is as it was submitted, and nothing else was tried."""
    found = tuple(subject.store.versions.of_campaign(subject.campaign.id))
    if len(found) == 1:
        return None
    content = Content(versions=found)
    title = "Exploratory analysis" if content.shown.exploratory else "Versions of the analysis"
    return Section(title=title, template="versions.html", content=content)
