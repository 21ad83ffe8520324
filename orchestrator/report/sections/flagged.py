"""The flagged configurations, one by one: sample, fit, and what re-runs found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from markupsafe import Markup

from analysis.mixture import Selection
from orchestrator import words
from orchestrator.campaigns import repetition
from orchestrator.contracts.analyses import FLAGGED, Fitted
from orchestrator.contracts.campaigns import Configuration
from orchestrator.report import histogram, units
from orchestrator.report.section import Section, Subject

PICTURES = 60
"""Thirty printed pages; the first 200 of a large campaign made 120,000 pixels before its next section."""

Repeats = Mapping[tuple[int, str], list[repetition.Repeated]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """A flagged configuration: what is known about it, and what its re-runs found."""

    configuration: Configuration
    title: str
    sentence: str | None
    selection: Selection | None
    dip_q: float | None
    picture: Markup | None
    components: tuple[str, ...]
    """`65 % around 900 MB/s`, from left to right."""
    repeats: tuple[repetition.Repeated, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The cards, and how many there would be."""

    cards: tuple[Card, ...]
    """At most `PICTURES` of them."""
    flagged: int


def gather(subject: Subject) -> Section | None:
    """A card for each of the first flagged configurations."""
    known = {(found.setting_id, found.mode): found for found in subject.configurations}
    repeats = _repeats(subject)
    fitted = islice(subject.store.analyses.fitted(subject.campaign.id, verdict=FLAGGED), PICTURES)
    content = Content(
        cards=tuple(_card(subject, known[one.setting_id, one.mode], one, repeats) for one in fitted),
        flagged=sum(found.verdict == FLAGGED for found in subject.configurations),
    )
    return Section(title="Flagged configurations", template="flagged.html", content=content)


def _repeats(subject: Subject) -> Repeats:
    """(setting, mode) -> what each re-run of the campaign found, the oldest first."""
    campaigns = subject.store.campaigns
    found: dict[tuple[int, str], list[repetition.Repeated]] = {}
    children = [one.id for one in campaigns.all() if one.parent_id == subject.campaign.id]
    for child in sorted(children):
        for pair in repetition.pairs(subject.configurations, campaigns.configurations(child)):
            found.setdefault((pair.first.setting_id, pair.first.mode), []).append(pair)
    return found


def _card(subject: Subject, configuration: Configuration, fitted: Fitted, repeats: Repeats) -> Card:
    selection = None if fitted.selection is None else Selection.from_dict(fitted.selection)
    title = words.title(subject.campaign.factors, configuration)
    metric = subject.metric
    return Card(
        configuration=configuration,
        title=title,
        sentence=fitted.sentence,
        selection=selection,
        dip_q=fitted.dip_q,
        picture=None if selection is None else histogram.draw(fitted.sample, selection, title, metric),
        components=() if selection is None else _components(selection, metric.unit),
        repeats=tuple(repeats.get((fitted.setting_id, fitted.mode), ())),
    )


def _components(selection: Selection, metric_unit: str) -> tuple[str, ...]:
    """Weight and median of each component."""
    best = selection.best
    unit = units.fitting(max(mode.position for mode in selection.modes), metric_unit)
    medians = best.component_quantiles(0.5)
    return tuple(
        f"{100 * weight:.0f} % around {unit.told(float(median))} {unit.name}"
        for weight, median in zip(best.weights, medians, strict=True)
    )
