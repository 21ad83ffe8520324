"""Calls of collectives, rank by rank, joined to arrivals: the k-th call on a communicator is the same one for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.contracts.errors import TableError
from orchestrator.traces.imported import Imported


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call of a rank: when it was entered, on its own clock."""

    name: str
    communicator: int
    entered_s: float


def trace_of(path: Path, by_rank: Sequence[Sequence[Call]], counts: Mapping[str, int]) -> Imported:
    """The trace of all ranks; `counts` are told. Raises TableError where ranks do not call the same collectives."""
    import numpy as np

    from analysis.criticality import Trace
    from analysis.errors import AnalysisError

    found: dict[tuple[int, int], tuple[str, dict[int, float]]] = {}
    for rank, calls in enumerate(by_rank):
        made: Counter[int] = Counter()
        for call in calls:
            key = (call.communicator, made[call.communicator])
            made[call.communicator] += 1
            name, entered = found.setdefault(key, (call.name, {}))
            if name != call.name:
                raise TableError(f"{path}: rank {rank} calls {call.name} where another calls {name}")
            entered[rank] = call.entered_s
    order = sorted(found.values(), key=lambda one: max(one[1].values()))
    arrival_s = np.full((len(order), len(by_rank)), np.nan)
    for row, (_, entered) in enumerate(order):
        arrival_s[row, list(entered)] = list(entered.values())
    listed = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    told = f"{path.name}: {len(by_rank)} ranks; calls of all ranks: {listed}"
    try:
        trace = Trace(
            settings=(path.stem,),
            collectives=tuple(f"{row} {name}" for row, (name, _) in enumerate(order)),
            ranks=tuple(str(rank) for rank in range(len(by_rank))),
            setting_of=np.zeros(len(order), dtype=np.int64),
            arrival_s=arrival_s,
        )
    except AnalysisError as error:
        raise TableError(f"{told}: {error}") from error
    return Imported(trace=trace, told=told)
