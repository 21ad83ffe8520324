"""The classes that the paper trains models of their own for: by intensity, or by program."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Literal

import numpy as np

from analysis.arrays import Flags
from analysis.log_prediction.published.procedure import FEWEST, Outcome, predict
from analysis.log_prediction.published.records import Records, most_recent

HIGH, MEDIUM = 80.0, 30.0  # percent of the bytes that moved in the file system
CLASSES = ("none", "intensity", "program")
Classes = Literal["none", "intensity", "program"]


def intensity_class(percent: float) -> str:
    """High from 80 %, medium from 30 %, low below; `unknown` where the log does not tell."""
    if not isfinite(percent):
        return "unknown"
    return "high" if percent >= HIGH else "medium" if percent >= MEDIUM else "low"


def predict_classes(records: Records, training: Flags, *, classes: Classes, **options: object) -> dict[str, Outcome]:
    """`predict` for each class with enough training jobs, by its name, and for all others together as `rest`.

    A job's own intensity is known when it has ended: its class is that of the program's most recent run. Predictions
    are NaN outside of the class.
    """
    labels = _labels(records, classes)
    sizes = {label: sum(one == label for one in np.array(labels)[training]) for label in set(labels)}
    own = sorted(label for label, size in sizes.items() if size >= 2 * FEWEST)
    named = ["" if label not in own else label for label in labels]
    found = {}
    for label in [*own, ""]:
        places = np.flatnonzero(np.array([one == label for one in named]))
        if len(places):
            outcome: Outcome = _predict(records.chosen(places), training[places], options)
            predicted = np.full(len(records), np.nan)
            predicted[places] = outcome.predicted
            found[label or "rest"] = Outcome(predicted=predicted, chosen=outcome.chosen)
    return found


def _predict(records: Records, training: Flags, options: dict[str, object]) -> Outcome:
    run: Callable[..., Outcome] = predict
    return run(records, training, **options)


def _labels(records: Records, classes: Classes) -> list[str]:
    if classes == "program":
        return [program for program, _, _ in records.owners]
    if classes == "intensity":
        recent = most_recent(records)
        return [intensity_class(float(records.intensity[place]) if place >= 0 else np.nan) for place in recent]
    return ["all"] * len(records)
