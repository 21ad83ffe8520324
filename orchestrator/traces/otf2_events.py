"""OTF2 traces, by the library of their makers: its wheel is made for Python 3.11 only (extra `traces`)."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from orchestrator.contracts.errors import TableError, missing_extra
from orchestrator.traces.arrivals import Call, trace_of
from orchestrator.traces.imported import Imported

RANK = re.compile(r"\d+")


def read(path: Path) -> Imported:
    """Arrivals are where ranks begin a collective. Raises TableError, MissingPartError."""
    try:
        import otf2
        from otf2 import events
    except ImportError as error:
        raise missing_extra("OTF2 traces need Python 3.11 and the library of their makers", "traces") from error
    if not path.is_file():
        raise TableError(f"{path}: there is no such file")
    begun: dict[int, float] = {}
    calls: dict[int, list[Call]] = {}
    counts: Counter[str] = Counter()
    try:
        with otf2.reader.open(str(path)) as trace:
            resolution = trace.timer_resolution
            for location, event in trace.events:
                rank = _rank(location)
                if isinstance(event, events.MpiCollectiveBegin):
                    begun[rank] = event.time / resolution
                elif isinstance(event, events.MpiCollectiveEnd):
                    name = str(event.collective_op).rpartition(".")[2].capitalize()
                    counts[f"MPI_{name}"] += 1
                    call = Call(name=name, communicator=hash(event.communicator.name), entered_s=begun.pop(rank))
                    calls.setdefault(rank, []).append(call)
    except (otf2.error.Error, OSError, KeyError, RuntimeError, ValueError) as error:
        raise TableError(f"{path}: cannot be read as an OTF2 trace: {error}") from error
    if not calls:
        raise TableError(f"{path}: the trace holds no collective")
    return trace_of(path, [calls.get(rank, []) for rank in range(max(calls) + 1)], counts)


def _rank(location: Any) -> int:
    """The number in the name of the process that a location belongs to, as in `MPI Rank 3`."""
    found = RANK.search(location.group.name)
    if found is None:
        raise ValueError(f"{location.group.name!r} does not name a rank")
    return int(found[0])
