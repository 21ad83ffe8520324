"""From the measured configurations to the distribution of any other (docs/prediction.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import Array, Flags, Indices
from analysis.errors import BadSampleError
from analysis.mixture import Options, Selection, select
from analysis.prediction import stack
from analysis.prediction.chances import Chances, Modality
from analysis.prediction.factors import Factors
from analysis.prediction.members import Lengths, Measured, Members
from analysis.prediction.quantiles import LEVELS, Scale, of_sample
from analysis.prediction.stack import Weights

# A forest's trees; those that only tell weights are fewer.
TREES, CV_SHARE = 60, 0.6
FEWEST = 10
# A selection is fitted to as many evenly spaced values of the predicted distribution as a sample has runs.
FEWEST_RUNS, MOST_RUNS = 40, 300


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """What is predicted for the rows asked; throughputs in the units of the samples, quantiles at `LEVELS`.

    `low` and `high` are 80 % bands for the quantiles of a sample. `p_multimodal` is None without verdicts to learn
    from.
    """

    quantiles: Array
    low: Array
    high: Array
    # How far off the median is expected to be, on the averaging scale: what an active campaign goes by.
    deviation: Array
    p_multimodal: Modality | None
    extrapolated: Flags

    def selection(self, row: int, *, runs: int = FEWEST_RUNS, options: Options | None = None) -> Selection:
        """The mixture of a row's predicted distribution, selected as if these were `runs` measured runs."""
        levels = (np.arange(runs) + 0.5) / runs
        return select(np.interp(levels, LEVELS, self.quantiles[row]), options=options)


@dataclass(kw_only=True)
class Predictor:
    """A fitted predictor. Weights for points at levels never measured are learnt when first asked for."""

    measured: Measured
    scale: Scale
    lengths: Lengths
    members: Members
    seen: Weights
    chances: Chances | None
    trees: int
    seed: int
    processes: int
    runs: int
    _left_out: dict[int, Weights] = field(default_factory=dict)

    @classmethod
    def fit(
        cls,
        names: Sequence[str],
        rows: Sequence[Sequence[str]],
        samples: Sequence[ArrayLike],
        *,
        modality: Modality | None = None,
        trees: int = TREES,
        seed: int = 1,
        processes: int = 1,
    ) -> Predictor:
        """Learn from the samples of rows of labels; `modality` tells what their verdicts are, nan where unknown.

        Raises `BadSampleError` for fewer than ten samples, or labels of which none varies.
        """
        if len(rows) < FEWEST:
            raise BadSampleError(f"{len(rows)} configurations are too few to predict from: {FEWEST} are needed")
        scale = Scale.of(samples)
        factors = Factors.of(names, rows)
        measured = Measured(
            factors=factors,
            codes=factors.codes(rows),
            quantiles=np.stack([of_sample(scale.to(sample)) for sample in samples]),
            runs=np.array([np.size(sample) for sample in samples], dtype=float),
        )
        lengths = Lengths.learn(measured, seed)
        folds = stack.random_folds(len(rows), np.random.default_rng(seed))
        seen = stack.learnt(measured, lengths, folds, trees=round(CV_SHARE * trees), seed=seed, processes=processes)
        assert seen is not None  # noqa: S101 - ten rows can be split
        return cls(
            measured=measured,
            scale=scale,
            lengths=lengths,
            members=Members.fit(measured, lengths, trees=trees, seed=seed, processes=processes),
            seen=seen,
            chances=None if modality is None else Chances.fit(measured.features, modality, seed, processes),
            trees=trees,
            seed=seed,
            processes=processes,
            runs=int(np.clip(np.median(measured.runs), FEWEST_RUNS, MOST_RUNS)),
        )

    def prepare(self, rows: Sequence[Sequence[str]]) -> None:
        """Learn the weights that these rows need: those at levels never measured take seconds each."""
        for at in np.flatnonzero(np.any(self.measured.factors.unseen(self.measured.factors.codes(rows)), axis=0)):
            self._for_level(int(at))

    def predict(self, rows: Sequence[Sequence[str]]) -> Predictions:
        """Predict the distributions of rows of labels, in the order of the names it was fitted with."""
        factors = self.measured.factors
        codes = factors.codes(rows)
        by_member, process = self.members.predict(codes)
        unseen = factors.unseen(codes)
        quantiles, reach = np.empty((2, len(rows), len(LEVELS)))
        for pattern in np.unique(unseen, axis=0):
            at = np.flatnonzero(np.all(unseen == pattern, axis=1))
            weights, reach[at] = self._weights(np.flatnonzero(pattern))
            quantiles[at] = np.tensordot(weights, by_member[:, at], axes=1)
        deviation = stack.deviation(by_member, process)
        band = deviation[:, None] * reach
        return Predictions(
            quantiles=self.scale.back(np.maximum.accumulate(quantiles, axis=1)),
            low=self.scale.back(quantiles - band),
            high=self.scale.back(quantiles + band),
            deviation=deviation,
            p_multimodal=None if self.chances is None else self.chances.predict(factors.features(codes)),
            extrapolated=factors.extrapolated(rows),
        )

    def _weights(self, unseen: Indices) -> tuple[Array, Array]:
        """Weights and reach for points at levels never measured of these factors."""
        parts = [self._for_level(int(at)) for at in unseen] or [self.seen]
        return np.mean([part.members for part in parts], axis=0), np.max([part.reach for part in parts], axis=0)

    def _for_level(self, at: int) -> Weights:
        if at not in self._left_out:
            folds = stack.level_folds(self.measured, at, np.random.default_rng(self.seed))
            found = stack.learnt(
                self.measured,
                self.lengths,
                folds,
                by_level=True,
                trees=round(CV_SHARE * self.trees),
                seed=self.seed,
                processes=self.processes,
            )
            self._left_out[at] = self.seen if found is None else found
        return self._left_out[at]
