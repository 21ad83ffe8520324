"""What explains the modes of a configuration: asked of the ledger when somebody wants to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

import numpy as np

from analysis import attribution, mixture
from orchestrator.contracts import metrics
from orchestrator.contracts.circumstances import Circumstance
from orchestrator.contracts.designs import Level
from orchestrator.contracts.errors import ConflictError
from orchestrator.store.ports import Store

OBSERVED: Mapping[str, str] = {
    "start_temperature_c": "temperature at the start (°C)",
    "temperature_c": "temperature at the end (°C)",
    "frequency_khz": "frequency (kHz)",
    "foreign_cpus": "CPUs kept busy by others",
    "foreign_kbps": "disk traffic of others (kB/s)",
    "waited_s": "time waited before (s)",
    "dirty_kb": "kB waiting to be written",
    "cached_kb": "kB in the page cache",
    "free_kb": "kB free on the target",
}
"""What is observed around every run -> what a sentence calls it."""
COLLECTORS = ("proc", "rapl", "perf", "perf_rotate", "power", "trim")
KEPT = 256
"""Explanations that are kept: a page that is opened again asks for nothing."""


def explained(
    store: Store, campaign_id: int, setting_id: int, mode: str, *, discard: int | None = None
) -> attribution.Explanation:
    """What goes with the density modes of a configuration, without the first `discard` runs of each job.

    As many as the analysis sets aside, when not given.

    Raises NotFoundError, and ConflictError where there is no fit yet. The same runs give the same answer.
    """
    version = store.campaigns.version(campaign_id)
    return _explained(_Asked(store), version, campaign_id, setting_id, mode, discard)


class _Asked:
    """A store as a part of a key: of one ledger, there is one version of each campaign."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._ledger = store.ledger

    def __hash__(self) -> int:
        return hash(self._ledger)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and other._ledger == self._ledger


@lru_cache(maxsize=KEPT)
def _explained(
    asked: _Asked, _version: str, campaign_id: int, setting_id: int, mode: str, discard: int | None
) -> attribution.Explanation:
    store = asked.store
    page = store.campaigns.configuration(campaign_id, setting_id, mode)
    if page.selection is None:
        reason = page.configuration.error or "its sample is not fitted yet"
        raise ConflictError(f"nothing to explain in setting {setting_id}, mode {mode}: {reason}")
    study = store.campaigns.study(campaign_id)
    made, told = store.findings.circumstances(campaign_id, setting_id), store.runs.told(setting_id)
    observed = [told.get(one.id, {}) for one in made]
    metric = metrics.of(study.engine, study.engine_options)
    options = mixture.Options.from_dict(dict(study.analysis_options))
    runs = _runs(made, observed, mode, store.campaigns.get(campaign_id).factors)
    selection = mixture.Selection.from_dict(dict(page.selection))
    invocation: attribution.Invocation | None = _invocation(made, observed, mode)
    if discard or options.discard:
        runs, invocation = runs.without_warm_up(options.discard if discard is None else discard), None
    if discard not in (None, options.discard):
        selection = mixture.select(runs.values, options=options)
    if selection.n != runs.n:
        raise ConflictError(f"setting {setting_id}, mode {mode}: runs have come in since the fit; ask again soon")
    return attribution.explain(
        runs, selection, options=options, rng=np.random.default_rng(options.seed), unit=metric.unit,
        larger_is_better=metric.larger_is_better, invocation=invocation,
    )  # fmt: skip


def _runs(
    made: Sequence[Circumstance], observed: Sequence[Mapping[str, Any]], mode: str, factors: Sequence[str]
) -> attribution.Runs:
    numbers, words = _before(made, factors)
    return attribution.Runs(
        values=np.array([one.values[mode] for one in made]),
        nodes=tuple(one.node for one in made),
        jobs=tuple(str(one.job) for one in made),
        sessions=_sessions(made),
        started_at=np.array([one.started_at for one in made]),
        numbers={**observed_numbers([one.get("observed", {}) for one in observed]), **numbers},
        words=words,
    )


def _sessions(made: Sequence[Circumstance]) -> tuple[str, ...]:
    """`2 of m03`: the sessions of a node in the order of their first run here."""
    numbers: dict[str, dict[UUID, int]] = {}
    for one in made:
        of_node = numbers.setdefault(one.node, {})
        of_node.setdefault(one.session, len(of_node) + 1)
    return tuple(f"{numbers[one.node][one.session]} of {one.node}" for one in made)


def observed_numbers(observed: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Every number that was observed, by what it is called; NaN where it was not."""
    flat = [dict(_flat(one)) for one in observed]
    names = dict.fromkeys(name for one in flat for name in one)
    return {name: np.array([one.get(name, np.nan) for one in flat], dtype=np.float64) for name in names}


def _flat(observed: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key, name in OBSERVED.items():
        if isinstance(observed.get(key), int | float):
            yield name, float(observed[key])
    for collector in COLLECTORS:
        counted = observed.get(collector)
        for key, value in counted.items() if isinstance(counted, Mapping) else ():
            if isinstance(value, int | float):
                yield f"{key} ({collector})", float(value)


def _before(
    made: Sequence[Circumstance], factors: Sequence[str]
) -> tuple[dict[str, np.ndarray], dict[str, tuple[str, ...]]]:
    """Factor by factor, the level of what the node measured before the job: as numbers, and as words."""
    first: dict[tuple[int, UUID], tuple[Level, ...] | None] = {}
    for one in made:
        first.setdefault((one.job, one.session), one.previous_levels)
    levels = [first[one.job, one.session] for one in made]
    numbers, words = {}, {}
    for place, factor in enumerate(factors):
        column = [None if of_run is None else of_run[place] for of_run in levels]
        name = f"{factor} of the setting before"
        if all(not isinstance(level, str) for level in column):
            numbers[name] = np.array([np.nan if level is None else float(level) for level in column])
        else:
            words[name] = tuple("none" if level is None else str(level) for level in column)
    return numbers, words


def _invocation(
    made: Sequence[Circumstance], observed: Sequence[Mapping[str, Any]], mode: str
) -> attribution.Invocation:
    """The other modes of the same runs, and what their processes did on average and at least, where that is told."""
    details = [one.get("details", {}).get(mode, {}) for one in observed]
    average, smallest = (
        np.array([one.get(key, np.nan) for one in details], dtype=np.float64) for key in ("avg_kbps", "min_kbps")
    )
    several = bool(np.any(np.isfinite(average) & (smallest < average)))
    others = [other for other in made[0].values if other != mode] if made else []
    return attribution.Invocation(
        others={other: np.array([one.values[other] for one in made]) for other in others},
        process_average=average if several else None,
        process_smallest=smallest if several else None,
    )
