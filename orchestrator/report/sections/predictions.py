"""How good predictions of configurations are: measured ones were left out in folds, and predicted from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from analysis.prediction.evaluate import Error
from analysis.prediction.importance import Importance
from analysis.prediction.trust import OfLevel
from orchestrator.campaigns import prediction_quality
from orchestrator.campaigns.prediction_quality import Quality
from orchestrator.contracts.metrics import Metric
from orchestrator.report import prediction_pictures as pictures
from orchestrator.report import units
from orchestrator.report.section import Section, Subject
from orchestrator.store.ports import Store

SHOWN_LEVELS = 24
"""Violins; those of the most important factors."""
DOUBTED = 12
"""Levels of the table of doubts; the worst."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """Figures, pictures, and where not to trust predictions."""

    measured: int
    left_out: int
    ks: float
    ks_nearest: float
    floor: float
    covered: float
    scatter: Markup | None
    """None where not all medians are positive."""
    importance: Markup
    importances: tuple[Importance, ...]
    violins: Markup
    shown_levels: int
    levels: int
    doubted: tuple[OfLevel, ...]
    doubts: int
    """Levels with a doubt, of which the worst are shown."""
    edge: float | None
    """The mean distance of configurations at the edge of some number; None where there are none."""
    between: float | None
    extrapolated: int
    """Of those left out: beyond what the others of their fold had measured."""
    extrapolated_ks: float | None


def gather(subject: Subject) -> Section | None:
    """Nothing where too little is measured to leave any of it out."""
    content = of_campaign(subject.store, subject.campaign.id, subject.metric)
    if content is None:
        return None
    return Section(title="How good predictions are", template="predictions.html", content=content)


def of_campaign(store: Store, campaign_id: int, metric: Metric) -> Content | None:
    """What the section and the page of predictions show. Raises NotFoundError."""
    quality = prediction_quality.of_campaign(store, campaign_id)
    return None if quality is None else _content(quality, metric)


def _content(quality: Quality, metric: Metric) -> Content:
    errors = quality.evaluation.errors
    order = [one.factor for one in quality.importances]
    by_importance = sorted(
        quality.levels, key=lambda one: order.index(one.factor) if one.factor in order else len(order)
    )
    shown = by_importance[:SHOWN_LEVELS]
    doubted = sorted((one for one in quality.levels if one.doubt), key=lambda one: -float(np.mean(one.ks)))
    far = [error for error in errors if error.extrapolated]
    at_edge = [error for error in errors if error.row in quality.edge_rows]
    return Content(
        measured=quality.measured,
        left_out=len(errors),
        ks=float(np.mean([error.ks for error in errors])),
        ks_nearest=float(np.mean([error.ks_nearest for error in errors])),
        floor=quality.floor,
        covered=float(np.mean([error.covered for error in errors])),
        scatter=_scatter(errors, metric),
        importance=pictures.bars(
            {one.factor: one.added_ks for one in quality.importances}, label="Distance added where a factor is shuffled"
        ),
        importances=quality.importances,
        violins=pictures.violins(
            {f"{one.factor} {one.level} ({len(one.ks)})": np.array(one.ks) for one in shown},
            pictures.DISTANCES,
            label="Distances of predictions to samples, by level",
        ),
        shown_levels=len(shown),
        levels=len(quality.levels),
        doubted=tuple(doubted[:DOUBTED]),
        doubts=len(doubted),
        edge=_mean(at_edge),
        between=_mean([error for error in errors if error.row not in quality.edge_rows]),
        extrapolated=len(far),
        extrapolated_ks=_mean(far),
    )


def _scatter(errors: Sequence[Error], metric: Metric) -> Markup | None:
    measured = np.array([error.median for error in errors])
    predicted = np.array([error.predicted_median for error in errors])
    if min(measured.min(), predicted.min()) <= 0:
        return None
    unit = units.fitting(float(np.median(measured)), metric.unit)
    return pictures.scatter(
        measured / unit.kbps, predicted / unit.kbps, unit=unit.name, label="Predicted over measured medians"
    )


def _mean(errors: Sequence[Error]) -> float | None:
    return float(np.mean([error.ks for error in errors])) if errors else None
