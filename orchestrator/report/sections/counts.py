"""How many configurations have which verdict, family and number of components."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.report.section import Section, Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """Counts of configurations, controls among them."""

    verdicts: Mapping[str, int]
    families: Mapping[str, int]
    """Of the best fit."""
    components: Mapping[int, int]
    """Of the best fit, in order."""


def gather(subject: Subject) -> Section | None:
    """Always there: that nothing is analysed yet is said too."""
    found = subject.configurations
    components = Counter(one.components for one in found if one.components is not None)
    content = Content(
        verdicts=subject.progress.verdicts,
        families=Counter(one.family for one in found if one.family is not None),
        components=dict(sorted(components.items())),
    )
    return Section(title="Counts", template="counts.html", content=content)
