"""The chance that a configuration's verdict is multimodal, from the verdicts of the measured ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Flags
from analysis.mixture import Options, Selection
from analysis.modality import dip_q_values, verdict
from analysis.prediction.forest import Forest

TREES = 100
LEAF = 5
# A gap in BIC of `CENTRE` is an even chance: between what flags with a dip and what flags alone (docs/method.md).
CENTRE, WIDTH = 20.0, 10.0
NORMAL_80 = 1.2816


@dataclass(frozen=True, kw_only=True)
class Modality:
    """For each configuration a number from 0 to 1: several density modes; more than one component.

    Of measured ones what their samples say, nan where no sample was judged; of others the predicted chance, with
    the 80 % band `low` to `high` of the chance of several modes.
    """

    multimodal: Array
    several_components: Array
    low: Array | None = None
    high: Array | None = None


def evidence(selections: Sequence[Selection | None]) -> Modality:
    """What selections say, in shades: the gap in BIC tells more than its verdict does."""
    gaps = [np.nan if s is None else (-np.inf if s.bic_gap is None else s.bic_gap) for s in selections]
    shades = 1 / (1 + np.exp(-np.clip((np.array(gaps) - CENTRE) / WIDTH, -50, 50)))
    components = np.array([np.nan if s is None else float(s.components > 1) for s in selections])
    return Modality(multimodal=shades, several_components=components)


def flagged(selections: Sequence[Selection], options: Options | None = None) -> Flags:
    """Whether each verdict is multimodal, judged together."""
    q = dip_q_values([selection.dip_p for selection in selections])
    chosen = Options() if options is None else options
    pairs = zip(selections, q, strict=True)
    return np.array([verdict(s, dip_q=float(one), options=chosen).kind == "multimodal" for s, one in pairs])


@dataclass(frozen=True, kw_only=True)
class Chances:
    """Trees that split where the evidence changes."""

    forest: Forest
    multimodal: Array
    several_components: Array

    @classmethod
    def fit(cls, features: Array, modality: Modality, seed: int, processes: int) -> Chances | None:
        """Learn from the rows that were judged; None when there are none."""
        judged = np.flatnonzero(np.isfinite(modality.multimodal))
        if not len(judged):
            return None
        truth = np.stack([modality.multimodal[judged], modality.several_components[judged]], axis=1)
        forest = Forest.fit(features[judged], truth, trees=TREES, leaf=LEAF, seed=seed, processes=processes)
        return cls(forest=forest, multimodal=truth[:, 0], several_components=truth[:, 1])

    def predict(self, features: Array) -> Modality:
        """The chances at rows of features."""
        weights = self.forest.weights(features)
        chance = weights @ self.multimodal
        heard = 1 / np.maximum(weights.power(2).sum(axis=1), 1e-9)  # so many configurations speak for it
        half = NORMAL_80 * np.sqrt(np.maximum(chance * (1 - chance), 0.01) / np.asarray(heard).ravel())
        return Modality(
            multimodal=np.clip(chance, 0, 1),
            several_components=np.clip(weights @ self.several_components, 0, 1),
            low=np.clip(chance - half, 0, 1),
            high=np.clip(chance + half, 0, 1),
        )
