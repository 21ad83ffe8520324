"""An agent's own answer to whether it is critical: a model from a file, its own counters, and nobody else."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.criticality.model import Model

logger = logging.getLogger(__name__)

FILE = "criticality.json"


class OwnCriticality:
    """The model that lies in an agent's folder, if there is one; an unreadable one is told once and left alone."""

    def __init__(self, folder: Path) -> None:
        self._model = _model(folder / FILE)

    def of_run(self, observed: Mapping[str, object], setting: Mapping[str, object]) -> dict[str, object]:
        """For a run's `observed`: the probability, and whether it is critical; nothing where nothing is known."""
        if self._model is None:
            return {}
        counters = dict(numbers(observed))
        if not any(name in counters for name in self._model.features):
            return {}
        chance = self._model.chance(counters, "/".join(str(level) for level in setting.values()))
        return {"criticality": round(chance, 4), "critical": self._model.is_critical(chance)}


def numbers(observed: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Every number among what was observed; one inside another is named `outer.inner`."""
    for name, value in observed.items():
        if isinstance(value, Mapping):
            yield from numbers(value, f"{prefix}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{prefix}{name}", float(value)


def _model(path: Path) -> Model | None:
    if not path.is_file():
        return None
    from analysis.criticality.model import BadModelError, from_json

    try:
        return from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, BadModelError) as error:
        logger.error("no criticality will be told: %s: %s", path, error)
        return None
