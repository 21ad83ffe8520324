"""A trained model as a small file: what an agent needs to tell from its own counters whether it is critical.

Standard library only, and nothing but a loop over a dozen numbers: an agent asks between two runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, isfinite

from analysis.errors import AnalysisError

FORMAT = "modescope-criticality"
VERSION = 1
LIMIT = 20.0


class BadModelError(AnalysisError):
    """The file is no model of criticality."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One setting's logistic regression, on counters as they are read: scaling and decorrelation are worked in."""

    centres: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float

    def chance(self, values: Sequence[float | None]) -> float:
        """The probability of being critical; a counter that is missing counts as usual."""
        logit = self.intercept
        for value, centre, scale, weight in zip(values, self.centres, self.scales, self.weights, strict=True):
            if value is not None:
                logit += weight * min(LIMIT, max(-LIMIT, (value - centre) / scale))
        return 1 / (1 + exp(-logit)) if logit > -700 else 0.0


@dataclass(frozen=True, kw_only=True)
class Model:
    """Features in the order of the weights; a line for each setting, and one for settings that are not known."""

    features: tuple[str, ...]
    """Counters that the rank reads itself, then rates from earlier rounds."""
    counters: int
    """How many of the features are counters."""
    scaled_weights: tuple[float, ...]
    """On scaled and decorrelated values: what a setting that was not seen gets, once its own usual values are known."""
    standard: str
    """Whether counters are scaled by each setting or by all."""
    threshold: float
    """From this probability on a rank is named critical."""
    share: float
    bound_s: float
    window_s: float
    drift: int
    """So many samples around each are averaged and taken off first; 0 and 1: none."""
    any_setting: Line
    settings: Mapping[str, Line]
    told: Mapping[str, float | str | None]
    """What it is worth: AUC with its interval, samples, and how it was judged."""

    def chance(self, counters: Mapping[str, float | None], setting: str | None = None) -> float:
        """The probability that whoever read these counters is critical in this setting."""
        line = self.any_setting if setting is None else self.settings.get(setting, self.any_setting)
        return line.chance([counters.get(name) for name in self.features])

    def is_critical(self, chance: float) -> bool:
        return chance >= self.threshold

    def to_json(self) -> str:
        """Text that `from_json` reads back to the bit."""
        body = {"format": FORMAT, "version": VERSION, **asdict(self)}
        return json.dumps({**body, "checksum": _checksum(body)}, indent=1, sort_keys=True) + "\n"


def from_json(text: str) -> Model:
    """Raises `BadModelError` for text that is no model, is of another version, or was changed."""
    try:
        body = json.loads(text)
    except ValueError as error:
        raise BadModelError(f"not a model: {error}") from error
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise BadModelError("not a model: modescope criticality train writes one")
    if body.get("version") != VERSION:
        raise BadModelError(f"a model of version {body.get('version')!r}; this program reads version {VERSION}")
    told = body.pop("checksum", None)
    if told != _checksum(body):
        raise BadModelError("the checksum of the model does not fit: the file was changed or cut; train it again")
    try:
        return _model(body)
    except (KeyError, TypeError, ValueError) as error:
        raise BadModelError(f"the model lacks something or has it wrong: {error!r}") from error


def _model(body: Mapping[str, object]) -> Model:
    settings, features = body["settings"], body["features"]
    if not isinstance(settings, dict) or not isinstance(features, list):
        raise BadModelError
    return Model(
        features=tuple(str(name) for name in features),
        counters=int(_number(body["counters"])),
        scaled_weights=tuple(_number(value) for value in _list(body["scaled_weights"])),
        standard=str(body["standard"]),
        threshold=_number(body["threshold"]),
        share=_number(body["share"]),
        bound_s=_number(body["bound_s"]),
        window_s=_number(body["window_s"]),
        drift=int(_number(body["drift"])),
        any_setting=_line(body["any_setting"], len(features)),
        settings={name: _line(line, len(features)) for name, line in settings.items()},
        told=body["told"] if isinstance(body["told"], dict) else {},
    )


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise BadModelError(f"{value!r} is not a list of numbers")
    return value


def _line(body: object, width: int) -> Line:
    if not isinstance(body, dict):
        raise BadModelError
    lists = [tuple(_number(value) for value in _list(body[name])) for name in ("centres", "scales", "weights")]
    if any(len(values) != width for values in lists) or not all(scale > 0 for scale in lists[1]):
        raise BadModelError("a setting of the model has not one centre, positive scale and weight for each feature")
    return Line(centres=lists[0], scales=lists[1], weights=lists[2], intercept=_number(body["intercept"]))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise BadModelError(f"{value!r} is not a finite number")
    return float(value)


def _checksum(body: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
