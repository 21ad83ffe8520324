"""How good predictions are, on configurations left out: distances, bands and chances, beside two baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import Flags, Indices
from analysis.errors import BadSampleError
from analysis.mixture import Selection
from analysis.prediction.baselines import delaunay, nearest_neighbour
from analysis.prediction.chances import Modality, evidence
from analysis.prediction.factors import Factors
from analysis.prediction.predictor import FEWEST, TREES, Predictions, Predictor
from analysis.prediction.quantiles import MEDIAN, excess_crps, ks_distance, of_sample

Kind = Literal["folds", "leave", "train-share"]


@dataclass(frozen=True, kw_only=True)
class Split:
    """What is left out: one of `value` folds, a level of the factor `value`, all but the share `value`."""

    kind: Kind
    value: str

    @classmethod
    def parse(cls, text: str) -> Split:
        """`folds=5`, `leave=FACTOR` or `train-share=0.2`. Raises `BadSampleError`."""
        kind, _, value = text.partition("=")
        if kind == "leave" and value:
            return cls(kind="leave", value=value)
        if kind == "folds" and value.isdigit() and int(value) >= 2:
            return cls(kind="folds", value=value)
        if kind == "train-share" and _is_share(value):
            return cls(kind="train-share", value=value)
        raise BadSampleError(f"{text!r}: one of folds=5, leave=FACTOR, train-share=0.2 is needed")

    def parts(
        self, names: Sequence[str], rows: Sequence[Sequence[str]], rng: np.random.Generator
    ) -> Iterator[tuple[str, Indices, Indices]]:
        """What is left out in words, and the rows kept and left out. Raises `BadSampleError`."""
        order = rng.permutation(len(rows))
        if self.kind == "folds":
            for number, left in enumerate(np.array_split(order, int(self.value))):
                yield f"fold {number + 1}", np.setdiff1d(order, left), left
        elif self.kind == "train-share":
            kept = round(float(self.value) * len(rows))
            yield f"all but {self.value}", order[:kept], order[kept:]
        else:
            yield from self._levels(names, rows)

    def _levels(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, Indices, Indices]]:
        if self.value not in names:
            raise BadSampleError(f"leave={self.value}: no label column has that name; they are {', '.join(names)}")
        place = list(names).index(self.value)
        levels = {row[place] for row in rows}
        if len(levels) < 2:
            raise BadSampleError(f"leave={self.value}: it has one level only, {next(iter(levels))!r}")
        factor = next(f for f in Factors.of(names, rows).varying if f.place == place)
        column = np.array([row[place] for row in rows])
        for level in sorted(levels, key=factor.code):
            yield level, np.flatnonzero(column != level), np.flatnonzero(column == level)


@dataclass(frozen=True, kw_only=True)
class Error:
    """One left-out configuration: what was predicted for it against what was measured."""

    row: int
    left_out: str
    extrapolated: bool
    ks: float
    ks_nearest: float
    ks_mesh: float
    # Relative to the measured median.
    excess_crps: float
    excess_crps_nearest: float
    median: float
    predicted_median: float
    covered: bool
    p_multimodal: float | None
    p_several: float | None
    multimodal: bool | None
    several: bool | None


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Measured configurations: label names, rows of labels, samples, and what is known of their modes.

    `selections` are those of the samples, `flags` whether their verdicts are multimodal; None leaves modes out.
    """

    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    values: Sequence[ArrayLike]
    selections: Sequence[Selection | None] | None = None
    flags: Flags | None = None


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """All errors, and how long training and one prediction took, in seconds, without selecting mixtures."""

    errors: tuple[Error, ...]
    train_s: float
    predict_s: float

    @property
    def gated(self) -> tuple[Error, ...]:
        """The errors of points between measured ones."""
        return tuple(error for error in self.errors if not error.extrapolated)

    def summary(self) -> dict[str, Any]:
        """Figures over all points, over those between measured ones, and over each part that was left out."""
        parts = dict.fromkeys(error.left_out for error in self.errors)
        return {
            "all": figures(self.errors),
            "interpolated": figures(self.gated),
            "left_out": {part: figures([e for e in self.errors if e.left_out == part]) for part in parts},
            "train_s": self.train_s,
            "predict_s": self.predict_s,
        }


def evaluate(
    samples: Samples,
    split: Split,
    *,
    trees: int = TREES,
    seed: int = 1,
    processes: int = 1,
    progress: Callable[[str], None] = lambda _: None,
    look: Callable[[Predictor, Indices], None] = lambda _predictor, _left: None,
) -> Evaluation:
    """Leave configurations out, predict them from the others, and compare. Raises `BadSampleError`.

    `look` sees the predictor of each part, and the rows that it did not learn from.
    """
    names, rows = samples.names, samples.rows
    shades = None if samples.selections is None else evidence(samples.selections)
    errors: list[Error] = []
    spent = np.zeros(2)
    for words, kept, left in split.parts(names, rows, np.random.default_rng(seed)):
        if len(kept) < FEWEST or not len(left):
            raise BadSampleError(f"without {words} {len(kept)} configurations are kept: {FEWEST} are needed")
        progress(words)
        begun = perf_counter()
        modality = None if shades is None else _part(shades, kept)
        learnt_from, values = _of(rows, kept), _of(samples.values, kept)
        predictor = Predictor.fit(
            names, learnt_from, values, modality=modality, trees=trees, seed=seed, processes=processes
        )
        predictor.prepare(_of(rows, left))
        trained = perf_counter()
        found = predictor.predict(_of(rows, left))
        spent += (trained - begun, perf_counter() - trained)
        errors += _errors(samples, predictor, found, left, words)
        look(predictor, left)
    return Evaluation(errors=tuple(errors), train_s=float(spent[0]), predict_s=float(spent[1] / len(errors)))


def figures(errors: Sequence[Error]) -> dict[str, float | int | None]:
    """Means over errors, the share of medians in their bands, and areas under the ROC curve; None without errors."""
    if not errors:
        return {"n": 0}
    table = {name: [asdict(error)[name] for error in errors] for name in _AVERAGED}
    return {
        "n": len(errors),
        "extrapolated": sum(error.extrapolated for error in errors),
        **{name: float(np.mean(values)) for name, values in table.items()},
        "auc_multimodal": auc([e.p_multimodal for e in errors], [e.multimodal for e in errors]),
        "auc_components": auc([e.p_several for e in errors], [e.several for e in errors]),
    }


def auc(scores: Sequence[float | None], truths: Sequence[bool | None]) -> float | None:
    """The area under the ROC curve (Mann and Whitney); None where one class is missing."""
    pairs = [(s, t) for s, t in zip(scores, truths, strict=True) if s is not None and t is not None]
    yes, no = ([s for s, t in pairs if t is wanted] for wanted in (True, False))
    if not yes or not no:
        return None
    above = np.subtract.outer(np.array(yes), np.array(no))
    return float(np.mean(above > 0) + np.mean(above == 0) / 2)


_AVERAGED = ("ks", "ks_nearest", "ks_mesh", "excess_crps", "excess_crps_nearest", "covered")


def _errors(samples: Samples, predictor: Predictor, found: Predictions, left: Indices, words: str) -> Iterator[Error]:
    codes = predictor.measured.factors.codes(_of(samples.rows, left))
    neighbours, meshes = nearest_neighbour(predictor.measured, codes), delaunay(predictor.measured, codes)
    for at, row in enumerate(left):
        sample = np.sort(np.asarray(samples.values[row], dtype=float))
        scaled, median = predictor.scale.to(sample), float(of_sample(sample)[MEDIAN])
        unit = abs(median) or 1.0
        selection = None if samples.selections is None else samples.selections[row]
        chance = found.p_multimodal
        yield Error(
            row=int(row),
            left_out=words,
            extrapolated=bool(found.extrapolated[at]),
            ks=ks_distance(predictor.scale.to(found.quantiles[at]), scaled),
            ks_nearest=ks_distance(neighbours[at], scaled),
            ks_mesh=ks_distance(meshes[at], scaled),
            excess_crps=excess_crps(found.quantiles[at], sample) / unit,
            excess_crps_nearest=excess_crps(predictor.scale.back(neighbours[at]), sample) / unit,
            median=median,
            predicted_median=float(found.quantiles[at][MEDIAN]),
            covered=bool(found.low[at][MEDIAN] <= median <= found.high[at][MEDIAN]),
            p_multimodal=None if chance is None else float(chance.multimodal[at]),
            p_several=None if chance is None else float(chance.several_components[at]),
            multimodal=None if samples.flags is None or selection is None else bool(samples.flags[row]),
            several=None if selection is None else selection.components > 1,
        )


def _of(values: Sequence[Any], rows: Indices) -> list[Any]:
    return [values[row] for row in rows]


def _part(shades: Modality, rows: Indices) -> Modality:
    return Modality(multimodal=shades.multimodal[rows], several_components=shades.several_components[rows])


def _is_share(text: str) -> bool:
    try:
        return 0 < float(text) < 1
    except ValueError:
        return False
