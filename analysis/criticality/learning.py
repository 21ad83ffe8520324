"""Models of criticality: one logistic regression a setting, or one for all, on counters standardised by setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.criticality import logistic, scaling, splits
from analysis.criticality.examples import Examples
from analysis.criticality.labels import Rule
from analysis.criticality.model import Line, Model
from analysis.criticality.scores import best_threshold
from analysis.errors import BadOptionsError, BadSampleError

Standard = Literal["setting", "all"]
STANDARDS: tuple[Standard, ...] = ("setting", "all")
MOST_SAMPLES = 200_000
"""A dozen weights are known well enough from as many samples; more only take time."""
FEWEST_SAMPLES = 50
"""A setting with fewer labelled samples gets the weights of all settings."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How models are trained. Raises `BadOptionsError`."""

    rule: Rule = field(default_factory=Rule)
    per_setting: bool = False
    standard: Standard = "setting"
    ridge: float = 10.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.ridge > 0:
            raise BadOptionsError(f"the ridge penalty is positive, not {self.ridge:g}")


@dataclass(frozen=True, kw_only=True)
class Trained:
    """Weights on scaled values, for all settings and for single ones, and how each setting is scaled."""

    scalings: dict[int, scaling.Scaling]
    histories: scaling.Scaling
    anywhere: scaling.Scaling
    all_settings: logistic.Weights
    by_setting: dict[int, logistic.Weights]
    threshold: float

    def chance(self, x: Array, setting: Indices) -> Array:
        """(n,) probabilities of raw (n, d) values."""
        return self.chance_of_scaled(scaled(self, x, setting), setting)

    def chance_of_scaled(self, x: Array, setting: Indices) -> Array:
        logit = self.all_settings.logit(x)
        for number, weights in self.by_setting.items():
            rows = setting == number
            logit[rows] = weights.logit(x[rows])
        return logistic.probability(logit)


def scalings(examples: Examples, options: Options) -> dict[int, scaling.Scaling]:
    """How the counters of each setting are scaled: by all its own samples, labelled or not, or by everybody's."""
    counters = examples.x[:, : len(examples.counters)]
    if options.standard == "all":
        one = scaling.of_values(counters, decorrelate=False)
        return dict.fromkeys(map(int, np.unique(examples.setting)), one)
    return {
        int(number): scaling.of_values(counters[examples.setting == number]) for number in np.unique(examples.setting)
    }


def scaled(trained: Trained, x: Array, setting: Indices) -> Array:
    """(n, d) the values that weights belong to: counters scaled by their setting, or by all where it is not known."""
    width = len(trained.anywhere.centre)
    counters = trained.anywhere.apply(x[:, :width])
    for number, scale in trained.scalings.items():
        rows = setting == number
        counters[rows] = scale.apply(x[rows, :width])
    return np.column_stack([counters, trained.histories.apply(x[:, width:])])


def train(examples: Examples, learnt: Flags, options: Options) -> Trained:
    """Learn from the labelled samples among (n,) `learnt`; labels of other samples are not looked at.

    Raises `BadSampleError` where no labelled sample is critical, or all are.
    """
    rows = np.flatnonzero(learnt & examples.labelled(options.rule.bound_s))
    if len(np.unique(examples.critical[rows])) < 2:
        raise BadSampleError(nothing_to_learn(examples, rows, options))
    rows = splits.fewer(rows, MOST_SAMPLES, np.random.default_rng(options.seed))
    width = len(examples.counters)
    found = Trained(
        scalings=scalings(examples, options),
        histories=scaling.of_values(examples.x[:, width:], decorrelate=False),
        anywhere=scaling.of_values(examples.x[:, :width], decorrelate=options.standard == "setting"),
        all_settings=logistic.Weights(values=np.zeros(1), curvature=np.eye(1)),
        by_setting={},
        threshold=0.5,
    )
    setting, y = examples.setting[rows], examples.critical[rows]
    x = scaled(found, examples.x[rows], setting)
    weights = logistic.fitted(x, y.astype(np.float64), ridge=options.ridge)
    own = _own_weights(x, y, setting, options) if options.per_setting else {}
    trained = replace(found, all_settings=weights, by_setting=own)
    return replace(trained, threshold=best_threshold(y, trained.chance_of_scaled(x, setting)))


def _own_weights(x: Array, y: Flags, setting: Indices, options: Options) -> dict[int, logistic.Weights]:
    found = {}
    for number in np.unique(setting):
        rows = setting == number
        if np.sum(rows) >= FEWEST_SAMPLES and len(np.unique(y[rows])) == 2:
            found[int(number)] = logistic.fitted(x[rows], y[rows].astype(np.float64), ridge=options.ridge)
    return found


def nothing_to_learn(examples: Examples, rows: Indices, options: Options) -> str:
    """Why no model can be trained on these rows."""
    largest_ms = float(np.nanmax(examples.imbalance_s, initial=0.0)) * 1000
    bound_ms = options.rule.bound_s * 1000
    if largest_ms < bound_ms:
        return (
            f"no collective reaches an imbalance of {bound_ms:g} ms (the largest is {largest_ms:.3g} ms): "
            "nothing to learn from; a lower --bound-ms would take smaller ones"
        )
    alike = "critical" if len(rows) and bool(examples.critical[rows[0]]) else "not critical"
    return f"all {len(rows)} samples to learn from are {alike}: a model needs some of both"


def exported(
    trained: Trained,
    examples: Examples,
    settings: Sequence[str],
    *,
    options: Options,
    window_s: float,
    drift: int = 0,
    told: dict[str, float | str | None],
) -> Model:
    """The model as a file: scaling and decorrelation worked into one line of weights for each setting."""
    return Model(
        features=examples.features,
        counters=len(examples.counters),
        scaled_weights=tuple(trained.all_settings.values[1:].tolist()),
        standard=options.standard,
        threshold=trained.threshold,
        share=options.rule.share,
        bound_s=options.rule.bound_s,
        window_s=window_s,
        drift=drift,
        any_setting=_line(trained.anywhere, trained.histories, trained.all_settings),
        settings={
            settings[number]: _line(scale, trained.histories, trained.by_setting.get(number, trained.all_settings))
            for number, scale in trained.scalings.items()
        },
        told=told,
    )


def _line(counters: scaling.Scaling, histories: scaling.Scaling, weights: logistic.Weights) -> Line:
    width = len(counters.centre)
    mixed = np.concatenate([counters.mix @ weights.values[1 : 1 + width], weights.values[1 + width :]])
    return Line(
        centres=tuple(np.concatenate([counters.centre, histories.centre]).tolist()),
        scales=tuple(np.concatenate([counters.scale, histories.scale]).tolist()),
        weights=tuple(mixed.tolist()),
        intercept=float(weights.values[0]),
    )


def applied(model: Model, examples: Examples, settings: Sequence[str]) -> Array:
    """(n,) probabilities by a model that was trained elsewhere; unknown settings are scaled by their own samples."""
    chance = np.empty(len(examples.x))
    for number in np.unique(examples.setting):
        rows = examples.setting == number
        line = model.settings.get(settings[number])
        if line is None:
            line = _of_unknown(model, examples.x[rows]) if model.standard == "setting" else model.any_setting
        scaled = np.clip((examples.x[rows] - line.centres) / line.scales, -scaling.LIMIT, scaling.LIMIT)
        chance[rows] = logistic.probability(line.intercept + np.nan_to_num(scaled) @ line.weights)
    return chance


def _of_unknown(model: Model, x: Array) -> Line:
    width = model.counters
    anywhere = model.any_setting
    histories = scaling.Scaling(
        centre=np.array(anywhere.centres[width:]), scale=np.array(anywhere.scales[width:]), mix=np.eye(0)
    )
    values = np.array([anywhere.intercept, *model.scaled_weights])
    weights = logistic.Weights(values=values, curvature=np.eye(1))
    return _line(scaling.of_values(x[:, :width]), histories, weights)
