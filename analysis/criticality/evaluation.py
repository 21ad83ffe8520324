"""What a model of criticality is worth: on samples held back, beside the majority class and beside earlier labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.criticality import gain, history, learning, logistic, scores, splits, yardstick
from analysis.criticality.examples import Examples
from analysis.criticality.labels import critical, reaches
from analysis.criticality.trace import Trace
from analysis.errors import BadSampleError

FOLDS = 10
SHARE = 0.75
MOST_FOR_GAIN = 50_000
FEWEST_SETTINGS = 30
"""With so many, intervals are over whole settings where settings are held back."""


@dataclass(frozen=True, kw_only=True)
class Cells:
    """One prediction for each rank and collective: the samples of its window pooled."""

    collective: Indices
    rank: Indices
    chance: Array
    critical: Flags
    imbalance_s: Array
    group: Indices
    """What the split keeps together."""


def pooled(examples: Examples, rows: Flags | Indices, chance: Array, group: Indices) -> Cells:
    """The mean probability of the samples of a rank and collective; `chance` and `group` belong to the rows."""
    collective, rank = examples.collective[rows], examples.rank[rows]
    width = int(examples.rank.max()) + 1
    keys, first, inverse = np.unique(collective * width + rank, return_index=True, return_inverse=True)
    return Cells(
        collective=keys // width,
        rank=keys % width,
        chance=np.bincount(inverse, chance) / np.bincount(inverse),
        critical=examples.critical[rows][first],
        imbalance_s=examples.imbalance_s[rows][first],
        group=group[first],
    )


@dataclass(frozen=True, kw_only=True)
class Quality:
    """What predictions for held-back ranks and collectives are worth."""

    samples: int
    collectives: int
    critical: int
    auc: scores.Auc | None
    """None: all labels are alike."""
    balanced_accuracy: float
    """At the model's threshold, chosen on what was learnt from."""
    accuracy: float
    """At a probability of 0.5, as in the paper."""
    majority: float
    calibration: scores.Calibration
    buckets: list[scores.Bucket]
    sets: scores.Sets

    @property
    def verdict(self) -> str:
        if self.auc is None:
            return "no AUC: all labels are alike"
        return "no better than chance" if self.auc.is_chance else "better than chance"


def quality(cells: Cells, threshold: float) -> Quality:
    """Of predictions and labels; at least one cell."""
    named = cells.chance >= threshold
    rate = float(np.mean(cells.critical))
    return Quality(
        samples=len(cells.chance),
        collectives=len(np.unique(cells.collective)),
        critical=int(np.sum(cells.critical)),
        auc=scores.auc(cells.critical, cells.chance, cells.group),
        balanced_accuracy=scores.balanced_accuracy(cells.critical, named),
        accuracy=float(np.mean((cells.chance >= 0.5) == cells.critical)),
        majority=max(rate, 1 - rate),
        calibration=scores.calibration(cells.critical, cells.chance),
        buckets=scores.by_bucket(cells.critical, cells.chance, cells.imbalance_s),
        sets=scores.sets(cells.critical, named, cells.collective),
    )


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A model trained on one part and judged by the other, and everything it is compared with."""

    held_back: Quality
    """Of collectives whose imbalance reaches the bound of what is learnt from."""
    from_lower_bound: Quality
    """Of those from the lower bound on, too: at 5 to 10 ms, many labels are noise."""
    updated: Quality | None
    """The same, updated after each labelled round (in the order of time); None: not asked for."""
    folds: list[float]
    """AUC of each fold of the cross-validation that has one."""
    folded: scores.Auc | None
    """AUC over all folds: pooled predictions, each from a model that did not see them."""
    other_models: dict[str, scores.Auc | None]
    """The yardstick and simple predictions, on what was held back."""
    gains: list[gain.Gain]
    """Of each feature, the best first, in what was learnt from."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a model is judged."""

    split: splits.Split = "collective"
    share: float = SHARE
    folds: int = FOLDS
    update: bool = False
    boosted: bool = True


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Which samples are learnt from, which are judged, and what belongs together."""

    learnt: Flags
    judged: Flags
    group: Indices


def evaluate(trace: Trace, examples: Examples, options: learning.Options, plan: Plan) -> Evaluation:
    """Train, predict, compare. Raises `BadSampleError` where a part has no labels of both kinds to learn from."""
    rng = np.random.default_rng(options.seed)
    learnt = splits.learnt(plan.split, plan.share, examples.collective, examples.setting, rng)
    # A handful of settings would say nothing of how much settings differ.
    by_setting = plan.split == "setting" and len(trace.settings) >= FEWEST_SETTINGS
    together: splits.Split = "setting" if by_setting else "collective"
    part = _Part(
        learnt=learnt,
        judged=~learnt & examples.labelled(options.rule.bound_s),
        group=splits.groups(together, examples.collective, examples.setting),
    )
    trained = learning.train(examples, learnt, options)
    if not np.any(part.judged):
        raise BadSampleError(learning.nothing_to_learn(examples, np.flatnonzero(part.judged), options))
    folded, by_fold = _cross_validated(examples, options, plan, part.group, rng)
    return Evaluation(
        held_back=_quality(examples, trained, part, options.rule.bound_s),
        from_lower_bound=_quality(examples, trained, part, options.rule.evaluated_s),
        updated=_updated(examples, trained, part) if plan.update else None,
        folds=by_fold,
        folded=folded,
        other_models={
            **_otherwise(trace, examples, part, options),
            **({"boosted trees": _boosted(examples, trained, part, options)} if plan.boosted else {}),
            **_by_labels(trace, examples, part, options),
        },
        gains=_gains(examples, trained, part, options, rng),
    )


def _quality(examples: Examples, trained: learning.Trained, part: _Part, bound_s: float) -> Quality:
    rows = ~part.learnt & examples.labelled(bound_s)
    chance = trained.chance(examples.x[rows], examples.setting[rows])
    return quality(pooled(examples, rows, chance, part.group[rows]), trained.threshold)


def _cross_validated(
    examples: Examples, options: learning.Options, plan: Plan, group: Indices, rng: np.random.Generator
) -> tuple[scores.Auc | None, list[float]]:
    if plan.folds < 2:
        return None, []
    labelled = examples.labelled(options.rule.bound_s)
    chance = np.full(len(labelled), np.nan)
    by_fold = []
    for held_back in splits.folds(plan.split, plan.folds, examples.collective, examples.setting, rng):
        rows = held_back & labelled
        try:
            trained = learning.train(examples, ~held_back, options)
        except BadSampleError:
            continue
        if np.any(rows):
            chance[rows] = trained.chance(examples.x[rows], examples.setting[rows])
            found = _auc(examples, rows, chance[rows], group)
            by_fold += [found.value] if found is not None else []
    told = ~np.isnan(chance)
    return (_auc(examples, told, chance[told], group) if np.any(told) else None), by_fold


def _auc(examples: Examples, rows: Flags, chance: Array, group: Indices) -> scores.Auc | None:
    cells = pooled(examples, rows, chance, group[rows])
    return scores.auc(cells.critical, cells.chance, cells.group)


def _updated(examples: Examples, trained: learning.Trained, part: _Part) -> Quality:
    """Predict a round, then learn from it, round by round."""
    rows = np.flatnonzero(part.judged)
    x = learning.scaled(trained, examples.x[rows], examples.setting[rows])
    chance = np.empty(len(rows))
    models: dict[int, logistic.Weights] = dict(trained.by_setting)
    anywhere = trained.all_settings
    for one in splits.by_collective(examples.collective[rows]):
        number = int(examples.setting[rows[one[0]]])
        weights = models.get(number, anywhere)
        chance[one] = logistic.probability(weights.logit(x[one]))
        learnt = weights.updated(x[one], examples.critical[rows[one]].astype(np.float64))
        if number in models:
            models[number] = learnt
        else:
            anywhere = learnt
    return quality(pooled(examples, rows, chance, part.group[rows]), trained.threshold)


def _otherwise(
    trace: Trace, examples: Examples, part: _Part, options: learning.Options
) -> dict[str, scores.Auc | None]:
    """One model for all settings beside one a setting, or the other way round, where both can be had."""
    if len(trace.settings) < 2 or not np.any(np.isin(examples.setting[part.judged], examples.setting[part.learnt])):
        return {}
    trained = learning.train(examples, part.learnt, replace(options, per_setting=not options.per_setting))
    chance = trained.chance(examples.x[part.judged], examples.setting[part.judged])
    name = "one model for all settings" if options.per_setting else "one model a setting"
    return {name: _auc(examples, part.judged, chance, part.group)}


def _by_labels(
    trace: Trace, examples: Examples, part: _Part, options: learning.Options
) -> dict[str, scores.Auc | None]:
    """What labels alone tell: rates, and the round before."""
    labels = critical(trace, options.rule)
    rounds = np.zeros(len(labels), dtype=bool)
    rounds[np.unique(examples.collective[part.learnt & examples.labelled(options.rule.bound_s)])] = True
    by_pair, by_rank = history.earlier_rates(trace, labels, rounds)
    labelled = reaches(trace.imbalance_s, options.rule.evaluated_s)
    told = {
        "rate of the setting and rank": by_pair,
        "rate of the rank": by_rank,
        "label of the round before": history.previous_labels(trace, labels, labelled),
    }
    place = (examples.collective[part.judged], examples.rank[part.judged])
    return {name: _auc(examples, part.judged, rates[place], part.group) for name, rates in told.items()}


def _boosted(
    examples: Examples, trained: learning.Trained, part: _Part, options: learning.Options
) -> scores.Auc | None:
    rows = np.flatnonzero(part.learnt & examples.labelled(options.rule.bound_s))
    rows = splits.fewer(rows, learning.MOST_SAMPLES, np.random.default_rng(options.seed))
    known = learning.scaled(trained, examples.x[rows], examples.setting[rows])
    new = learning.scaled(trained, examples.x[part.judged], examples.setting[part.judged])
    chance = yardstick.chances(known, examples.critical[rows], new, seed=options.seed)
    return _auc(examples, part.judged, chance, part.group)


def _gains(
    examples: Examples, trained: learning.Trained, part: _Part, options: learning.Options, rng: np.random.Generator
) -> list[gain.Gain]:
    """Of each counter on its own, scaled by its setting but not mixed with others."""
    plain = replace(
        trained,
        scalings={number: replace(one, mix=np.eye(len(one.mix))) for number, one in trained.scalings.items()},
        anywhere=replace(trained.anywhere, mix=np.eye(len(trained.anywhere.mix))),
    )
    rows = splits.fewer(np.flatnonzero(part.learnt & examples.labelled(options.rule.bound_s)), MOST_FOR_GAIN, rng)
    x, y = learning.scaled(plain, examples.x[rows], examples.setting[rows]), examples.critical[rows]
    bits, stable = gain.information(x, y), gain.stability(x, y, examples.collective[rows], rng)
    upwards = np.mean(x[y], axis=0) >= np.mean(x[~y], axis=0)
    alone = learning.scaled(plain, examples.x[part.judged], examples.setting[part.judged]) * np.where(
        upwards, 1.0, -1.0
    )
    found = [
        gain.Gain(name=name, bits=float(bits[place]), stability=float(stable[place]), auc=_value(one))
        for place, name in enumerate(examples.features)
        for one in [_auc(examples, part.judged, alone[:, place], part.group)]
    ]
    return sorted(found, key=lambda one: -one.bits)


def _value(found: scores.Auc | None) -> float:
    return float("nan") if found is None else found.value
