"""What predictions rest on: how much worse they become when one kind of feature is shuffled among the tested jobs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Flags
from analysis.log_prediction.evaluation import Evaluation
from analysis.log_prediction.features import Feature
from analysis.log_prediction.jobs import Known
from analysis.log_prediction.scores import r2

REPEATS = 3


@dataclass(frozen=True, kw_only=True)
class Importance:
    """Of one kind of feature, for one direction."""

    kind: str
    features: int
    lost: float  # of R^2 of log throughput, mean over shuffles


def kind_of(feature: Feature) -> str:
    """What a feature is about, in words."""
    name = feature.name
    if feature.known is Known.SUBMITTED:
        return "key and declared numbers"
    if name in {"hour", "weekday"}:
        return "hour and weekday"
    if name.startswith("previous") or name == "log_age_of_file_system_row":
        return "previous row of the key" if name.endswith("of key") else "previous row of the file system"
    if name.startswith("missed_elsewhere"):
        return "jobs just before on other file systems"
    if name.startswith(("missed_here", "missed_least_in", "jobs_in")):
        return "jobs just before on this file system"
    return "history of the key"


def importances(found: Evaluation, direction: str, *, rng: np.random.Generator) -> list[Importance]:
    """Every kind, the most important first; empty without trees that are trusted.

    The history itself stays: it is what is corrected.
    """
    jobs, model = found.jobs, found.model
    tested: Flags = found.tested & jobs.of_direction(direction) & np.isfinite(found.table.weighted)
    if model is None or model.regressor is None or not model.trust[direction] or np.count_nonzero(tested) < 2:
        return []
    values, weighted = found.table.values[tested], found.table.weighted[tested]
    measured, trust = np.log(jobs.throughput[tested]), model.trust[direction]
    kinds = np.array([kind_of(column) for column in found.table.columns])

    def quality(rows: np.ndarray) -> float:
        return r2(measured, weighted + trust * model.raw(rows))

    whole = quality(values)
    lost = {}
    for kind in sorted(set(kinds)):
        columns = np.flatnonzero(kinds == kind)
        worse = []
        for _ in range(REPEATS):
            shuffled = values.copy()
            shuffled[:, columns] = values[rng.permutation(len(values))][:, columns]
            worse.append(whole - quality(shuffled))
        lost[kind] = Importance(kind=str(kind), features=len(columns), lost=float(np.mean(worse)))
    return sorted(lost.values(), key=lambda one: -one.lost)
