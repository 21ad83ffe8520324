"""A campaign's runs as rounds of its nodes: as they were begun together, or put together afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.arrays import Array, Indices
from analysis.criticality import Samples, Trace
from orchestrator.campaigns.attribution import observed_numbers
from orchestrator.campaigns.counters import COUNTING, first_of_each_setting
from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.findings import MeasuredRun
from orchestrator.contracts.runs import Validity
from orchestrator.store.ports import Store

MOST_SETTINGS = 200
"""So many are looked at, spread over the design."""
MOST_RUNS = 20_000
"""Of these settings together."""
PROBED = 10
"""Settings after which observations are given up where none of them has any."""
BY_MODEL = "criticality by the agent's own model"
PER_SECOND = tuple(f" ({collector})" for collector in (*COUNTING, "rapl"))
"""How columns end that grow while a run lasts: as they are, they would only tell how long it was."""

Numbered = Sequence[tuple[int, MeasuredRun]]
"""(Round of its setting, run) pairs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rounds:
    """Who was how fast in which round."""

    trace: Trace
    started_at: Array
    """(K, R), nan where a node took no part."""
    samples: Samples | None
    """What was observed around the runs, counts per second of their run; None where nothing was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Measured:
    """One setting: its runs in order of start, and what was observed around each."""

    runs: Numbered
    observed: Sequence[Mapping[str, Any]]


def chosen(store: Store, campaign_id: int) -> list[Configuration]:
    """A configuration of each setting that is looked at."""
    of_setting = first_of_each_setting(store.campaigns.configurations(campaign_id))
    return of_setting[:: max(1, -(-len(of_setting) // MOST_SETTINGS))]


def gather(store: Store, campaign_id: int, looked_at: Sequence[Configuration], *, lockstep: bool) -> Rounds | None:
    """The rounds of these settings, as far as two nodes took part; None without any."""
    measured = list(_measured(store, campaign_id, looked_at, lockstep=lockstep))
    if not measured:
        return None
    trace, started_at, cells = _trace(measured)
    observed = [one for setting in measured for one in setting.observed]
    elapsed_s = np.array([run.elapsed_s for setting in measured for _, run in setting.runs])
    return Rounds(trace=trace, started_at=started_at, samples=samples_of(observed, elapsed_s, cells))


def put_together(runs: Sequence[MeasuredRun]) -> list[tuple[int, MeasuredRun]]:
    """The k-th run of a node is in round k; without those that no other node has a k-th run beside."""
    seen: Counter[str] = Counter()
    found = []
    for run in runs:
        found.append((seen[run.node], run))
        seen[run.node] += 1
    shared = sorted(seen.values())[-2] if len(seen) > 1 else 0
    return [(number, run) for number, run in found if number < shared]


def begun_together(runs: Sequence[MeasuredRun]) -> list[tuple[int, MeasuredRun]]:
    """Runs that were given one instant are a round; without those that were given one alone."""
    together = Counter(run.start_at for run in runs if run.start_at is not None)
    instants = sorted(instant for instant, count in together.items() if count > 1)
    number_of = {instant: number for number, instant in enumerate(instants)}
    return [(number_of[run.start_at], run) for run in runs if run.start_at is not None and run.start_at in number_of]


def samples_of(
    observed: Sequence[Mapping[str, Any]], elapsed_s: Array, cells: tuple[Indices, Indices]
) -> Samples | None:
    """What was observed around runs of these cells (rounds, nodes); None where nothing was."""
    lasted_s = np.where(elapsed_s > 0, elapsed_s, np.nan)  # imported runs need not tell it
    columns = {
        name: column / lasted_s if name.endswith(PER_SECOND) else column
        for name, column in observed_numbers(observed).items()
    }
    if any("criticality" in one for one in observed):
        columns[BY_MODEL] = np.array([float(one.get("criticality", np.nan)) for one in observed])
    if not columns:
        return None
    values = np.stack(list(columns.values()), axis=1)
    values[~np.isfinite(values)] = np.nan
    return Samples(names=tuple(columns), values=values, collective=cells[0], rank=cells[1])


def _measured(
    store: Store, campaign_id: int, looked_at: Sequence[Configuration], *, lockstep: bool
) -> Iterator[_Measured]:
    """Those that two nodes have measured, until these are as many runs as are looked at."""
    shares = store.findings.shares(campaign_id, [one.setting_id for one in looked_at])
    taken, asked, told_something = 0, 0, False
    for one in looked_at:
        share = shares.get(one.setting_id, {})
        if len(share) < 2 or (taken and taken + sum(share.values()) > MOST_RUNS):
            continue
        taken += sum(share.values())
        page = store.campaigns.configuration(campaign_id, one.setting_id, one.mode)
        valid = [run for run in page.runs if run.validity == Validity.VALID]
        runs = begun_together(valid) if lockstep else put_together(valid)
        told = store.runs.told(one.setting_id) if told_something or asked < PROBED else {}
        asked += 1
        observed = [told.get(run.id, {}).get("observed", {}) for _, run in runs]
        told_something = told_something or any(observed)
        if runs:
            yield _Measured(runs=runs, observed=observed)


def _trace(measured: Sequence[_Measured]) -> tuple[Trace, Array, tuple[Indices, Indices]]:
    """The rounds, the (K, R) starts of their runs, and the row and rank of each run, in the order of `measured`."""
    nodes = sorted({run.node for setting in measured for _, run in setting.runs})
    rank_of = {node: place for place, node in enumerate(nodes)}
    lengths = [1 + max(number for number, _ in setting.runs) for setting in measured]
    before = np.cumsum([0, *lengths[:-1]])
    each = [
        (first + number, run) for first, setting in zip(before, measured, strict=True) for number, run in setting.runs
    ]
    row = np.array([place for place, _ in each])
    rank = np.array([rank_of[run.node] for _, run in each])
    arrival_s = np.full((sum(lengths), len(nodes)), np.nan)
    started_at = arrival_s.copy()
    arrival_s[row, rank] = [finish_s(run) for _, run in each]
    started_at[row, rank] = [run.started_at for _, run in each]
    trace = Trace(
        settings=tuple(str(number) for number in range(len(measured))),
        collectives=tuple(str(number) for length in lengths for number in range(length)),
        ranks=tuple(nodes),
        setting_of=np.repeat(np.arange(len(measured)), lengths),
        arrival_s=arrival_s,
        starts_together=True,
    )
    return trace, started_at, (row, rank)


def finish_s(run: MeasuredRun) -> float:
    """When it was done, from the instant that was given to its round; of rounds put together, how long it took."""
    return run.elapsed_s if run.start_at is None else run.started_at + run.elapsed_s - run.start_at
