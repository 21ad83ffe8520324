"""From values to runs, and from runs to settings: a run has one value for each mode of its setting.

Values of one setting, node, job and replicate are of one run. Modes that were not measured in the same runs become
settings of their own with the same levels: no value is left out for want of a partner, none is invented.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.contracts.designs import Level
from orchestrator.imports.values import Found, Skipped

Key = tuple[str, str, str, int]
"""Of a run in its setting: node, job, replicate, and which of those that are called so."""
_Runs = dict[Key, dict[str, Found]]


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundRun:
    """One run as it was found."""

    place: int
    """Its number in the order of the data."""
    node: str
    job: str
    started_at: float | None
    elapsed_s: float | None
    values: tuple[float, ...]
    """In the order of its setting's modes; empty where one of them is missing."""
    valid: bool
    reason: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundSetting:
    """A setting with all its runs, in the order of the data."""

    levels: tuple[Level, ...]
    modes: tuple[str, ...]
    runs: tuple[FoundRun, ...]

    @property
    def valid_runs(self) -> int:
        """How many count."""
        return sum(run.valid for run in self.runs)


def settings_of(found: Sequence[Found], skipped: Skipped) -> list[FoundSetting]:
    """Every setting that has a valid run, in the order of the data."""
    typed = _as_one_kind(found)
    runs_of: dict[tuple[Level, ...], _Runs] = {}
    places: dict[tuple[tuple[Level, ...], Key], int] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    for place, (levels, one) in enumerate(zip(typed, found, strict=True)):
        named = (one.node, one.job, one.replicate)
        key = (*named, seen[levels, one.mode, *named])
        seen[levels, one.mode, *named] += 1
        runs_of.setdefault(levels, {}).setdefault(key, {})[one.mode] = one
        places.setdefault((levels, key), place)
    settings = [
        _setting(levels, modes, runs, {key: places[levels, key] for key in runs})
        for levels, runs in runs_of.items()
        for modes in _measured_together(runs)
    ]
    for setting in settings:
        if setting.valid_runs == 0:
            skipped.add("no valid run of the setting", str(setting.levels), len(setting.runs))
    return [setting for setting in settings if setting.valid_runs > 0]


def _measured_together(runs: _Runs) -> list[tuple[str, ...]]:
    """The modes of a setting, those with the same runs together."""
    keys_of: dict[str, list[Key]] = {}
    for key, values in runs.items():
        for mode in values:
            keys_of.setdefault(mode, []).append(key)
    together: dict[frozenset[Key], list[str]] = {}
    for mode, keys in keys_of.items():
        together.setdefault(frozenset(keys), []).append(mode)
    return [tuple(modes) for modes in together.values()]


def _setting(levels: tuple[Level, ...], modes: tuple[str, ...], runs: _Runs, places: Mapping[Key, int]) -> FoundSetting:
    of_these = [
        _run([values[mode] for mode in modes], places[key]) for key, values in runs.items() if modes[0] in values
    ]
    return FoundSetting(levels=levels, modes=modes, runs=tuple(of_these))


def _run(values: Sequence[Found], place: int) -> FoundRun:
    """Failed as a whole where one of its values does not count, or is missing."""
    measured = tuple(one.value for one in values if one.value is not None)
    refused = next((one for one in values if not one.valid), None)
    times = [one.started_at for one in values if one.started_at is not None]
    return FoundRun(
        place=place,
        node=values[0].node,
        job=values[0].job,
        started_at=min(times, default=None),
        elapsed_s=next((one.elapsed_s for one in values if one.elapsed_s is not None), None),
        values=measured if len(measured) == len(values) else (),
        valid=refused is None,
        reason=None if refused is None else refused.reason,
    )


def _as_one_kind(found: Iterable[Found]) -> list[tuple[Level, ...]]:
    """Levels; a factor that has words among them has them all as words."""
    listed = [one.levels for one in found]
    worded = [any(isinstance(level, str) for level in column) for column in zip(*listed, strict=True)]
    if not any(worded):
        return listed
    return [
        tuple(str(level) if words else level for level, words in zip(levels, worded, strict=True)) for levels in listed
    ]
