"""How good the predictions for a campaign are, on configurations that are measured: left out in folds, then predicted.

A few seconds at most: from a part of the configurations, and with few trees. Predictions themselves learn from more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from analysis.errors import AnalysisError
from analysis.prediction.evaluate import Evaluation, Samples, Split, evaluate
from analysis.prediction.importance import Importance, Shuffling
from analysis.prediction.trust import OfLevel, edge_rows, floor, levels
from orchestrator.campaigns.predictions import KEPT, MODE, Ledger, labels
from orchestrator.contracts.campaigns import Configuration
from orchestrator.store.ports import Store

FEWEST, MOST = 30, 120
"""Configurations that are looked at; with fewer nothing is told."""
FOLDS = 3
TREES = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Quality:
    """What came of leaving configurations out."""

    measured: int
    """Configurations with a fit, controls aside."""
    evaluation: Evaluation
    importances: tuple[Importance, ...]
    """The most important factor first."""
    levels: tuple[OfLevel, ...]
    edge_rows: frozenset[int]
    """`row` of the errors that are at the lowest or highest level of some number."""
    floor: float
    """The mean distance that perfect predictions would have."""


def of_campaign(store: Store, campaign_id: int) -> Quality | None:
    """None where too few configurations are fitted, or scikit-learn is not installed. Raises NotFoundError."""
    if find_spec("sklearn") is None:
        return None
    return _of_campaign(Ledger(store=store, id=store.ledger), campaign_id, store.campaigns.version(campaign_id))


@lru_cache(maxsize=KEPT)
def _of_campaign(ledger: Ledger, campaign_id: int, _version: str) -> Quality | None:
    store = ledger.store
    every = store.campaigns.configurations(campaign_id)
    fitted = [one for one in every if one.family is not None and one.control is None]
    # At random: evenly spaced ones of a factorial design may all have the same level of a factor.
    drawn = [fitted[at] for at in np.sort(np.random.default_rng(campaign_id).permutation(len(fitted))[:MOST])]
    sampled = [(one, values) for one in drawn if len(values := _sample(store, one)) > 1] if len(drawn) >= FEWEST else []
    if len(sampled) < FEWEST:
        return None
    samples = Samples(
        names=(*store.campaigns.get(campaign_id).factors, MODE),
        rows=[labels(one) for one, _ in sampled],
        values=[values for _, values in sampled],
    )
    return _of_samples(samples, len(fitted))


def _of_samples(samples: Samples, measured: int) -> Quality | None:
    shuffling = Shuffling(samples=samples)
    try:
        evaluation = evaluate(samples, Split(kind="folds", value=str(FOLDS)), trees=TREES, look=shuffling)
    except AnalysisError:  # no factor varies
        return None
    return Quality(
        measured=measured,
        evaluation=evaluation,
        importances=shuffling.importances(),
        levels=levels(samples, evaluation.errors),
        edge_rows=edge_rows(samples),
        floor=floor(samples),
    )


def _sample(store: Store, one: Configuration) -> list[float]:
    page = store.campaigns.configuration(one.campaign_id, one.setting_id, one.mode)
    return [run.value for run in page.runs if run.counts and run.value is not None]
