"""How good predictions of criticality are: AUC with its interval, balanced accuracy, calibration, critical sets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.arrays import Array, Flags, Indices

BUCKETS_S = (0.005, 0.010, 0.025, 0.050, 0.100, np.inf)
CALIBRATION_BINS = 10


@dataclass(frozen=True, kw_only=True)
class Auc:
    """The chance that a critical sample scores above another, with a 95 % interval over groups of samples."""

    value: float
    error: float
    """Standard error."""

    @property
    def low(self) -> float:
        return max(0.0, self.value - 1.96 * self.error)

    @property
    def high(self) -> float:
        return min(1.0, self.value + 1.96 * self.error)

    @property
    def is_chance(self) -> bool:
        """No better than chance: the 99 % interval reaches 0.5, as 995 in 1,000 models of noise have it."""
        return not self.value - 2.576 * self.error > 0.5


def auc(y: Flags, score: Array, group: Indices) -> Auc | None:
    """Area under the receiver's curve; None where all labels are alike.

    Samples of a group (a collective) depend on one another: the variance is Obuchowski's (1997) for clustered data.
    """
    from scipy import stats  # half a second that agents, who import this package too, need not spend

    critical, others = int(np.sum(y)), int(np.sum(~y))
    if critical == 0 or others == 0:
        return None
    places = stats.rankdata(score)
    own = np.empty(len(y))
    own[y] = stats.rankdata(score[y])
    own[~y] = stats.rankdata(score[~y])
    # The share of the other class that each sample is on the right side of (a tie counts half).
    above = (places - own) / np.where(y, others, critical)
    right = np.where(y, above, 1 - above)
    value = float(np.mean(right[y]))
    error = float(np.sqrt(_clustered_variance(y, right - value, group)))
    return Auc(value=value, error=error)


def _clustered_variance(y: Flags, deviation: Array, group: Indices) -> float:
    numbers = np.unique(group, return_inverse=True)[1]
    groups = int(numbers.max()) + 1
    critical = np.bincount(numbers[y], deviation[y], groups) / np.sum(y)
    others = np.bincount(numbers[~y], deviation[~y], groups) / np.sum(~y)
    # A single group says nothing of how groups differ.
    return float(np.sum((critical + others) ** 2)) * groups / (groups - 1) if groups > 1 else np.inf


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """The paper's accuracy, at a probability of 0.5, of the collectives of one range of imbalance."""

    low_s: float
    high_s: float
    samples: int
    critical: int
    accuracy: float
    majority: float
    """The accuracy of always naming the class that is more frequent here."""


def by_bucket(y: Flags, chance: Array, imbalance_s: Array) -> list[Bucket]:
    """One for each range of imbalance that has samples."""
    found = []
    for low_s, high_s in pairwise(BUCKETS_S):
        inside = (imbalance_s >= low_s) & (imbalance_s < high_s)
        if np.any(inside):
            rate = float(np.mean(y[inside]))
            found.append(
                Bucket(
                    low_s=low_s,
                    high_s=high_s,
                    samples=int(np.sum(inside)),
                    critical=int(np.sum(y[inside])),
                    accuracy=float(np.mean((chance[inside] >= 0.5) == y[inside])),
                    majority=max(rate, 1 - rate),
                )
            )
    return found


def balanced_accuracy(y: Flags, named: Flags) -> float:
    """The mean of the shares named rightly among critical samples and among the others; nan where one is missing."""
    if np.all(y) or not np.any(y):
        return float("nan")
    return float((np.mean(named[y]) + np.mean(~named[~y])) / 2)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What probabilities were told, and how often it came true."""

    told: list[float]
    came_true: list[float]
    samples: list[int]
    error: float
    """The mean difference of both, weighted with the samples."""
    brier: float


def calibration(y: Flags, chance: Array) -> Calibration:
    """In ten bins of equally many samples."""
    order = np.argsort(chance, kind="stable")
    parts = [part for part in np.array_split(order, CALIBRATION_BINS) if len(part)]
    told = [float(np.mean(chance[part])) for part in parts]
    came_true = [float(np.mean(y[part])) for part in parts]
    sizes = [len(part) for part in parts]
    gaps = np.abs(np.subtract(told, came_true))
    return Calibration(
        told=told,
        came_true=came_true,
        samples=sizes,
        error=float(np.average(gaps, weights=sizes)),
        brier=float(np.mean((chance - y) ** 2)),
    )


@dataclass(frozen=True, kw_only=True)
class Sets:
    """Predicted critical sets, over all collectives: how much of them was critical, and how much of those was named."""

    precision: float
    recall: float
    exact: float
    """The share of collectives whose set was named without a mistake."""


def sets(y: Flags, named: Flags, collective: Indices) -> Sets:
    """Precision is nan where nobody was named, recall where nobody was critical."""
    both = float(np.sum(y & named))
    numbers = np.unique(collective, return_inverse=True)[1]
    wrong = np.bincount(numbers, y != named)
    return Sets(
        precision=both / np.sum(named) if np.any(named) else float("nan"),
        recall=both / np.sum(y) if np.any(y) else float("nan"),
        exact=float(np.mean(wrong == 0)),
    )


def best_threshold(y: Flags, chance: Array) -> float:
    """The probability from which naming a rank critical has the best balanced accuracy; 0.5 where labels are alike."""
    if np.all(y) or not np.any(y):
        return 0.5
    order = np.argsort(-chance, kind="stable")
    hits, false_alarms = np.cumsum(y[order]), np.cumsum(~y[order])
    gain = hits / hits[-1] - false_alarms / false_alarms[-1]
    last_of_value = np.append(np.diff(chance[order]) != 0, True)
    return float(chance[order][int(np.argmax(np.where(last_of_value, gain, -1)))])
