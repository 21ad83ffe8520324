"""What predictions rest on: how much worse they become when the levels of one factor are shuffled."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analysis.arrays import Array, Indices
from analysis.log_prediction.scores import r2
from analysis.prediction.evaluate import Samples
from analysis.prediction.predictor import Predictor
from analysis.prediction.quantiles import MEDIAN, ks_distance


@dataclass(frozen=True, kw_only=True)
class Importance:
    """Of one factor, over all configurations left out."""

    factor: str
    lost_r2: float
    """Of medians, on the scale on which distributions are averaged; NaN where medians do not vary."""
    added_ks: float
    """To the mean distance of Kolmogorov and Smirnov, which is never more than 1: it saturates."""


@dataclass(kw_only=True)
class Shuffling:
    """What `evaluate` is given as `look`: predicts what was left out once more for each factor, shuffled."""

    samples: Samples
    seed: int = 1
    _medians: dict[str | None, list[float]] = field(default_factory=dict)
    _distances: dict[str | None, list[float]] = field(default_factory=dict)
    _truths: list[float] = field(default_factory=list)

    def __call__(self, predictor: Predictor, left: Indices) -> None:
        """Predict the rows that were left out as they are (None), and with each factor shuffled among them."""
        rng = np.random.default_rng(self.seed)
        rows = [list(self.samples.rows[at]) for at in left]
        scaled = [predictor.scale.to(np.sort(np.asarray(self.samples.values[at], dtype=float))) for at in left]
        self._truths += [float(np.median(sample)) for sample in scaled]
        self._predicted(None, predictor, rows, scaled)
        for factor in predictor.measured.factors.varying:
            others = rng.permutation(len(rows))
            shuffled = [
                [*row[: factor.place], rows[other][factor.place], *row[factor.place + 1 :]]
                for row, other in zip(rows, others, strict=True)
            ]
            self._predicted(factor.name, predictor, shuffled, scaled)

    def importances(self) -> tuple[Importance, ...]:
        """Of every factor that varied wherever something was left out, the most important first."""
        truths = np.array(self._truths)
        whole_r2, whole_ks = r2(truths, np.array(self._medians[None])), np.mean(self._distances[None])
        found = [
            Importance(
                factor=name,
                lost_r2=whole_r2 - r2(truths, np.array(medians)),
                added_ks=float(np.mean(self._distances[name]) - whole_ks),
            )
            for name, medians in self._medians.items()
            if name is not None and len(medians) == len(truths)
        ]
        return tuple(sorted(found, key=lambda one: (-one.added_ks, -one.lost_r2)))

    def _predicted(self, factor: str | None, predictor: Predictor, rows: list[list[str]], scaled: list[Array]) -> None:
        quantiles = predictor.scale.to(predictor.predict(rows).quantiles)
        self._medians.setdefault(factor, []).extend(quantiles[:, MEDIAN].tolist())
        self._distances.setdefault(factor, []).extend(
            ks_distance(one, sample) for one, sample in zip(quantiles, scaled, strict=True)
        )
