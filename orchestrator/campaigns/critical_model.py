"""What a model of criticality is worth that a campaign's own rounds train (docs/criticality.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis import criticality
from analysis.criticality import Evaluation, Options, Plan, Rule, Samples, Trace
from analysis.errors import AnalysisError

SHARE = 0.6
"""Of each setting's rounds, the first: what is learnt from."""
FEWEST = 40
"""Rounds with a critical node."""
FROM_EARLIER = "earlier rounds"
WITH_OBSERVED = "earlier rounds and observations"
OBSERVED_BY = 0.9
"""The share of runs in which a quantity was observed, at least."""
NAMES = {"rate of the setting and rank": "rate of the setting and node", "rate of the rank": "rate of the node"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Gain:
    """One quantity alone, in what was learnt from."""

    name: str
    bits: float
    """Information gain, less what chance would show."""
    stability: float
    """The share of resamples in which it is among the first five."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelQuality:
    """Trained on the first rounds of each setting, judged by the others."""

    name: str
    """What it learns from."""
    rounds: int
    """Held back, with a critical node."""
    samples: int
    critical: int
    auc: float | None
    low: float | None
    """With `high`, the 95 % interval over rounds."""
    high: float | None
    verdict: str
    balanced_accuracy: float | None
    accuracy: float
    """At a probability of 0.5, as in the paper."""
    majority: float
    """The accuracy of always naming the more frequent class."""
    calibration_error: float
    precision: float | None
    """Of the sets that are named critical; with `recall`."""
    recall: float | None
    others: Mapping[str, float | None]
    """AUC of what labels alone tell."""
    gains: tuple[Gain, ...]
    """The first five."""


def qualities(trace: Trace, samples: Samples | None, rule: Rule) -> tuple[tuple[ModelQuality, ...], str | None]:
    """From earlier labels, and from what was observed as well; or else why there is nothing to tell."""
    labelled = int(np.sum(criticality.reaches(trace.imbalance_s, rule.bound_s)))
    if labelled < FEWEST:
        return (), f"{labelled} rounds reach {rule.bound_s * 1000:g} ms, and a model takes {FEWEST}"
    known = _often_known(trace, samples)
    found: list[ModelQuality] = []
    try:
        found.append(_quality(FROM_EARLIER, trace, None, rule))
        if known is not None:
            found.append(_quality(WITH_OBSERVED, trace, known, rule))
    except AnalysisError as error:
        return tuple(found), str(error)
    return tuple(found), None


def _often_known(trace: Trace, samples: Samples | None) -> Samples | None:
    if samples is None:
        return None
    told = np.mean(~np.isnan(samples.values), axis=0)
    names = tuple(name for name, share in zip(samples.names, told, strict=True) if share >= OBSERVED_BY)
    return samples.only(names) if names else None


def _quality(name: str, trace: Trace, samples: Samples | None, rule: Rule) -> ModelQuality:
    options = Options(rule=rule)
    examples = criticality.prepare(trace, samples, rule, with_history=True)
    plan = Plan(split="time", share=SHARE, folds=0, boosted=False)
    return _told(name, criticality.evaluate(trace, examples, options, plan))


def _told(name: str, found: Evaluation) -> ModelQuality:
    judged = found.held_back
    return ModelQuality(
        name=name,
        rounds=judged.collectives,
        samples=judged.samples,
        critical=judged.critical,
        auc=None if judged.auc is None else judged.auc.value,
        low=None if judged.auc is None else judged.auc.low,
        high=None if judged.auc is None else judged.auc.high,
        verdict=judged.verdict,
        balanced_accuracy=_or_none(judged.balanced_accuracy),
        accuracy=judged.accuracy,
        majority=judged.majority,
        calibration_error=judged.calibration.error,
        precision=_or_none(judged.sets.precision),
        recall=_or_none(judged.sets.recall),
        others={NAMES.get(of, of): None if one is None else one.value for of, one in found.other_models.items()},
        gains=tuple(_gains(found)),
    )


def _gains(found: Evaluation) -> Sequence[Gain]:
    return [Gain(name=one.name, bits=one.bits, stability=one.stability) for one in found.gains[:5]]


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
