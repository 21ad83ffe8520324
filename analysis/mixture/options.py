"""The choices of an analysis: one frozen value that a study carries and the database stores."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, Literal, Self, get_args

from analysis.errors import BadOptionsError
from analysis.mixture.families import NAMES

LikelihoodChoice = Literal["auto", "point", "interval"]
MAX_COMPONENTS = 5


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to fit, select and judge. `Options()` are the defaults of the documentation.

    Raises `BadOptionsError` for a value outside its range.
    """

    families: tuple[str, ...] = NAMES
    max_components: int = MAX_COMPONENTS
    # A component's sigma is at least this share of the sample's standard deviation (of x, or of log x).
    floor: float = 0.02
    likelihood: LikelihoodChoice = "auto"
    # `auto` takes the interval likelihood when distinct values are fewer than this share of n.
    distinct_share: float = 0.8
    # In a sample of fewer runs than this, a component must hold so many runs for its fit to be selected: BIC alone
    # takes a chance cluster of three runs for a component in a fifth of samples of 30 (docs/method.md).
    small_n: int = 100
    small_n_runs: int = 8
    # A density mode counts when it rises by this share of the highest peak above the valley, and holds these runs.
    min_prominence: float = 0.05
    min_share: float = 0.03
    min_runs: int = 5
    # Verdict thresholds (docs/method.md).
    bic_gap: float = 10.0
    bic_gap_alone: float = 30.0
    dip_q: float = 0.05
    min_n: int = 30
    # So many first runs of every job are set aside as warm-up: whoever makes a sample of a campaign's runs does it.
    discard: int = 0
    # Seed of the draws that spread tied values over their cells for the dip test.
    seed: int = 20200607

    def __post_init__(self) -> None:
        _check_names(self.families)
        _check(1 <= self.max_components <= MAX_COMPONENTS, "max_components", f"from 1 to {MAX_COMPONENTS}")
        _check(0 < self.floor < 1, "floor", "between 0 and 1")
        _check(self.likelihood in get_args(LikelihoodChoice), "likelihood", "one of auto, point, interval")
        for name in ("distinct_share", "min_prominence", "min_share", "dip_q"):
            _check(0 <= getattr(self, name) <= 1, name, "between 0 and 1")
        for name in ("small_n", "small_n_runs", "min_runs", "min_n", "seed", "bic_gap", "bic_gap_alone", "discard"):
            _check(getattr(self, name) >= 0, name, "0 or more")

    def as_dict(self) -> dict[str, Any]:
        """JSON values, one per field; `from_dict` is the inverse.

        Without `discard` where it is 0, as before there was such an option: the digests of studies stay as they were.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.discard == 0:
            del values["discard"]
        return values | {"families": list(self.families)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Options from JSON values; absent keys take their default, unknown ones raise `BadOptionsError`."""
        types: dict[str, Any] = {field.name: type(field.default) for field in fields(cls)}
        for key, value in values.items():
            if key not in types:
                raise BadOptionsError(f"unknown analysis option {key!r}{_nearest(key, types)}")
            if not _fits(value, types[key]):
                raise BadOptionsError(f"analysis option {key}: {value!r} is not of type {_TYPE_WORDS[types[key]]}")
        converted: dict[str, Any] = {
            key: tuple(value) if types[key] is tuple else types[key](value) for key, value in values.items()
        }
        return cls(**converted)


_TYPE_WORDS = {tuple: "list", int: "integer", float: "number", str: "text"}


def _fits(value: object, wanted: type) -> bool:
    if isinstance(value, bool):
        return False
    if wanted is float:
        return isinstance(value, int | float)
    if wanted is tuple:
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    return isinstance(value, wanted)


def _check(holds: bool, name: str, wanted: str) -> None:
    if not holds:
        raise BadOptionsError(f"analysis option {name} must be {wanted}")


def _check_names(families: tuple[str, ...]) -> None:
    _check(len(families) > 0, "families", "a list of at least one family")
    for name in families:
        if name not in NAMES:
            raise BadOptionsError(f"unknown family {name!r}{_nearest(name, NAMES)}; families are {', '.join(NAMES)}")
    _check(len(set(families)) == len(families), "families", "a list without repetition")


def _nearest(word: str, words: Mapping[str, object] | tuple[str, ...]) -> str:
    near = get_close_matches(word, list(words), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
