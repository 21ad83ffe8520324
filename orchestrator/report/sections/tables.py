"""The study's tables: which mixtures describe it best, and how many components they have. Controls do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.findings import Summary
from orchestrator.report.section import Section, Subject

FAMILIES = ("normal", "gamma", "weibull", "lognormal", "loglogistic", "frechet")
"""In the order in which ties between them are broken (docs/method.md)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """Counts of configurations, and sums over them."""

    summary: Summary
    unit: str
    """Of the values whose likelihoods are summed."""
    sizes: tuple[int, ...]
    """Numbers of components that occur."""
    models: Mapping[str, Mapping[int, int]]
    """Family -> number of components -> configurations that it describes best."""

    @property
    def single_normal(self) -> int:
        """Configurations that one normal distribution describes best."""
        return self.models.get("normal", {}).get(1, 0)

    @property
    def several(self) -> int:
        """Configurations whose best fit has more than one component."""
        return sum(number for components, number in self.summary.components.items() if components > 1)


def gather(subject: Subject) -> Section | None:
    """Nothing until something is analysed."""
    summary = subject.store.findings.summary(subject.campaign.id)
    if not summary.analysed:
        return None
    fitted = [one for one in subject.configurations if one.control is None and one.family is not None]
    content = Content(
        summary=summary,
        unit=subject.metric.unit,
        sizes=tuple(sorted({one.components for one in fitted if one.components is not None})),
        models=_models(fitted),
    )
    return Section(title="The study in tables", template="tables.html", content=content)


def _models(fitted: Sequence[Configuration]) -> dict[str, dict[int, int]]:
    counts = Counter((one.family, one.components) for one in fitted)
    present = [name for name in FAMILIES if any(family == name for family, _ in counts)]
    return {
        name: {size: number for (family, size), number in counts.items() if family == name and size is not None}
        for name in present
    }
