"""What samples look like: histograms of a few configurations that differ in shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from analysis.mixture import Selection
from orchestrator import words
from orchestrator.contracts.campaigns import Configuration
from orchestrator.report import curves, histogram
from orchestrator.report.section import Section, Subject

PICTURES = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One configuration's histogram."""

    title: str
    runs: int
    verdict: str | None
    picture: Markup


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The histograms, from one peak to many."""

    samples: tuple[Sample, ...]
    fitted: int
    """Configurations that they were chosen from."""


def gather(subject: Subject) -> Section | None:
    """Nothing until something is fitted."""
    fitted = [one for one in subject.configurations if one.family is not None and one.control is None]
    if not fitted:
        return None
    samples = tuple(_sample(subject, one) for one in chosen(fitted))
    return Section(
        title="What samples look like", template="shapes.html", content=Content(samples=samples, fitted=len(fitted))
    )


def chosen(fitted: Sequence[Configuration]) -> list[Configuration]:
    """The clearest of every shape (verdict and number of peaks), then the next of each, until there are enough."""
    shapes: dict[tuple[int, str], list[Configuration]] = {}
    for one in sorted(fitted, key=_clearness, reverse=True):
        shapes.setdefault((one.density_modes or 1, one.verdict or ""), []).append(one)
    picked: list[Configuration] = []
    while len(picked) < min(PICTURES, len(fitted)):
        picked += [of_shape.pop(0) for of_shape in shapes.values() if of_shape][: PICTURES - len(picked)]
    return sorted(picked, key=lambda one: (one.density_modes or 1, one.ordinal))


def _clearness(one: Configuration) -> float:
    """How strongly the fits speak for or against several peaks."""
    return 0.0 if one.bic_gap is None else abs(one.bic_gap)


def _sample(subject: Subject, one: Configuration) -> Sample:
    page = subject.store.campaigns.configuration(one.campaign_id, one.setting_id, one.mode)
    title = words.title(subject.campaign.factors, one)
    selection = Selection.from_dict(dict(page.selection or {}))
    sample = curves.sample_of(page)
    return Sample(
        title=title,
        runs=len(sample),
        verdict=one.verdict,
        picture=histogram.sketch(sample, selection, title, subject.metric),
    )
