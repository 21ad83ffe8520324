"""What counters say about a campaign: which tell the modes of a configuration apart, and a model over its settings.

Counters are what collectors counted around runs (`node.collect`); a machine without some is no failure: the answer
says what it had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis import attribution, mixture
from analysis.counters import mummi, ranking, separation
from analysis.counters.errors import TooFewSamplesError
from analysis.counters.merging import Rows, samples
from analysis.counters.ranking import Ranked
from analysis.counters.separation import Separation
from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.findings import MeasuredRun
from orchestrator.contracts.runs import Validity
from orchestrator.store.ports import Store

COUNTING = ("perf", "perf_rotate", "proc")
"""Collectors whose numbers are counters; the others tell energies and powers."""
NO_COUNTERS = frozenset({"percent_counted", "task-clock"})
CYCLES = ("cycles (perf)", "cycles (perf_rotate)")
MOST_SETTINGS = 200
"""A model looks at so many, spread over the design."""
PROBED = 10
"""Settings after which it is given up where none of them told anything."""
PERMUTATIONS = 199
SEED = 20200607


@dataclass(frozen=True, kw_only=True, slots=True)
class Apart:
    """Which counters tell the density modes of one configuration apart."""

    separation: Separation
    per_cycle: bool
    had: tuple[str, ...]
    """The collectors that told something."""
    sentence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetModel:
    """The paper's form, fitted to the settings of a campaign."""

    target: str
    form: str
    samples: int
    mean_error_percent: float
    ranking: tuple[Ranked, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CampaignModel:
    """Models over the settings of a campaign, and what they were made from."""

    settings: int
    """Those that were looked at."""
    had: Mapping[str, int]
    """Collector -> settings whose runs told something of it."""
    per_cycle: bool
    models: tuple[TargetModel, ...]
    missing: tuple[str, ...]
    """Why there is no model of some target."""


def apart(store: Store, campaign_id: int, setting_id: int, mode: str) -> Apart:
    """Which counters tell the density modes of a configuration apart.

    Raises NotFoundError, and ConflictError where there are no modes or no counters to tell them apart.
    """
    page = store.campaigns.configuration(campaign_id, setting_id, mode)
    where = f"setting {setting_id}, mode {mode}"
    if page.selection is None:
        raise ConflictError(f"{where}: {page.configuration.error or 'its sample is not fitted yet'}")
    selection = mixture.Selection.from_dict(dict(page.selection))
    if len(selection.modes) < 2:
        raise ConflictError(f"{where} has one density mode: there is nothing to tell apart")
    runs = [run for run in page.runs if run.validity == Validity.VALID and run.value is not None and not run.warm_up]
    told = store.runs.told(setting_id)
    observed = [told.get(run.id, {}).get("observed", {}) for run in runs]
    had = _had(observed)
    counters = _counters(observed)
    if not counters:
        raise ConflictError(f"{where}: nothing was counted around its runs; a study asks for it with node.collect")
    values = np.array([run.value for run in runs], dtype=np.float64)
    modes = attribution.mode_weights(selection.best, selection.modes, values).argmax(axis=1)
    named = _cycles(counters)
    rates = counters if named is None else _per_cycle(counters, named)
    try:
        found = separation.separate(modes, rates, np.random.default_rng(SEED), PERMUTATIONS)
    except TooFewSamplesError as error:
        raise ConflictError(f"{where}: {error}") from error
    sentence = _sentence(found, per_cycle=named is not None)
    return Apart(separation=found, per_cycle=named is not None, had=tuple(had), sentence=sentence)


def model(store: Store, campaign_id: int) -> CampaignModel:
    """Runtime and powers over the settings of a campaign: one sample a setting, medians of its valid runs."""
    of_setting = first_of_each_setting(store.campaigns.configurations(campaign_id))
    step = max(1, -(-len(of_setting) // MOST_SETTINGS))
    found = _measured(store, campaign_id, of_setting[::step])
    had = {name: sum(name in one["had"] for one in found) for name in (*COUNTING, "rapl", "power")}
    whole = _rows([one["numbers"] for one in found])
    models, missing = [], []
    for target in ("runtime", "node_power", "cpu_power", "memory_power"):
        try:
            if whole is None or not np.isfinite(whole.targets[target]).any():
                raise TooFewSamplesError(f"no run told {target}")
            if not whole.counters:
                raise TooFewSamplesError("no run told a counter")
            some = samples(whole, "none").usable(target)
            fitted = mummi.fit(some, target)
        except TooFewSamplesError as error:
            missing.append(f"{target}: {error}")
            continue
        models.append(
            TargetModel(
                target=target,
                form=fitted.form,
                samples=fitted.n,
                mean_error_percent=fitted.mean_error_percent,
                ranking=ranking.ranking(fitted),
            )
        )
    per_cycle = whole is not None and whole.cycles is not None
    return CampaignModel(
        settings=len(found), had=had, per_cycle=per_cycle, models=tuple(models), missing=tuple(missing)
    )  # fmt: skip


def _measured(store: Store, campaign_id: int, chosen: Sequence[Configuration]) -> list[dict[str, Any]]:
    """What the settings told; no more than the first ones where these told nothing: then nothing was collected."""
    found: list[dict[str, Any]] = []
    for one in chosen:
        told = _setting(store, campaign_id, one)
        if told is not None:
            found.append(told)
        if len(found) == PROBED and not any(one["had"] for one in found):
            break
    return found


def first_of_each_setting(configurations: Sequence[Configuration]) -> list[Configuration]:
    """Without controls: these are never measured."""
    found: dict[int, Configuration] = {}
    for one in configurations:
        if one.control is None:
            found.setdefault(one.setting_id, one)
    return list(found.values())


def _setting(store: Store, campaign_id: int, one: Configuration) -> dict[str, Any] | None:
    """What the runs of a setting told, by its median; None for one without valid runs."""
    page = store.campaigns.configuration(campaign_id, one.setting_id, one.mode)
    runs = [run for run in page.runs if run.validity == Validity.VALID and not run.warm_up]
    if not runs:
        return None
    told = store.runs.told(one.setting_id)
    observed = [told.get(run.id, {}).get("observed", {}) for run in runs]
    return {"had": _had(observed), "numbers": _medians(runs, observed)}


def _medians(runs: Sequence[MeasuredRun], observed: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    columns = {
        "runtime": np.array([run.elapsed_s for run in runs]),
        "frequency_ghz": np.array([float(one.get("frequency_khz") or np.nan) / 1e6 for one in observed]),
        "cpu_power": np.array([_watts(one, "package", run.elapsed_s) for one, run in zip(observed, runs, strict=True)]),
        "memory_power": np.array([_watts(one, "dram", run.elapsed_s) for one, run in zip(observed, runs, strict=True)]),
        "node_power": np.array([float(_of(one, "power").get("mean_w", np.nan)) for one in observed]),
        **_counters(observed),
    }
    return {name: _median(column) for name, column in columns.items()}


def _median(column: np.ndarray) -> float:
    finite = column[np.isfinite(column)]
    return float(np.median(finite)) if len(finite) else float("nan")


def _rows(numbers: Sequence[Mapping[str, float]]) -> Rows | None:
    if not numbers:
        return None
    names = dict.fromkeys(name for one in numbers for name in one)
    columns = {name: np.array([one.get(name, np.nan) for one in numbers]) for name in names}
    targets = {name: columns.pop(name) for name in ("runtime", "node_power", "cpu_power", "memory_power")}
    frequency = columns.pop("frequency_ghz")
    return Rows(
        labels={},
        within={},
        counters=columns,
        cycles=_cycles(columns),
        frequency_ghz=frequency if np.all(np.isfinite(frequency)) else None,
        targets=targets,
    )


def _had(observed: Sequence[Mapping[str, Any]]) -> list[str]:
    return [name for name in (*COUNTING, "rapl", "power") if any(_of(one, name) for one in observed)]


def _counters(observed: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Every counter by name and collector; NaN where a run did not tell it."""
    flat = [
        {
            f"{key} ({name})": float(value)
            for name in COUNTING
            for key, value in _of(one, name).items()
            if isinstance(value, int | float) and key not in NO_COUNTERS
        }
        for one in observed
    ]
    names = dict.fromkeys(name for one in flat for name in one)
    return {name: np.array([one.get(name, np.nan) for one in flat]) for name in names}


def _cycles(counters: Mapping[str, np.ndarray]) -> str | None:
    """Which counter holds the cycles of every run or setting; None: none does."""
    return next((name for name in CYCLES if name in counters and np.all(counters[name] > 0)), None)


def _per_cycle(counters: Mapping[str, np.ndarray], cycles: str) -> dict[str, np.ndarray]:
    return {name: column / counters[cycles] for name, column in counters.items() if name != cycles}


def _of(observed: Mapping[str, Any], collector: str) -> Mapping[str, Any]:
    told = observed.get(collector)
    return told if isinstance(told, Mapping) else {}


def _watts(observed: Mapping[str, Any], zone: str, elapsed_s: float) -> float:
    """Of all zones of a kind (`package-0_j`); NaN where none was told."""
    joules = [float(value) for key, value in _of(observed, "rapl").items() if key.startswith(zone)]
    return sum(joules) / elapsed_s if joules and elapsed_s > 0 else float("nan")


def _sentence(found: Separation, *, per_cycle: bool) -> str:
    share = f"balanced accuracy {found.accuracy:.0%}, p {found.p:.3g}"
    if not found.tells:
        return f"The counters do not tell the modes apart ({share})"
    named = [one for one in found.tellers if one.p <= separation.TELLS_P][:3]
    if not named:
        return f"The counters together tell the modes apart ({share}), none of them alone"
    unit = " a cycle" if per_cycle else ""
    words = [f"{'more' if one.medians[-1] > one.medians[0] else 'fewer'} {one.counter}{unit}" for one in named]
    return f"The counters tell the modes apart ({share}): the upper one has {', '.join(words)}"
