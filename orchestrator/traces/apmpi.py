"""Darshan logs with APMPI: how long each rank was inside MPI in all, and no single collective (extra `logs`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from orchestrator.contracts.errors import TableError, missing_extra

IN_MPI = "MPI_TOTAL_COMM_TIME"
COLLECTIVE_TIMES = (
    "MPI_BARRIER_TOTAL_TIME",
    "MPI_ALLREDUCE_TOTAL_TIME",
    "MPI_REDUCE_TOTAL_TIME",
    "MPI_BCAST_TOTAL_TIME",
)


@dataclass(frozen=True, kw_only=True)
class Totals:
    """How uneven the ranks of a log are; `least`, `median` and `most` of the seconds that they spent."""

    ranks: int
    in_mpi_s: dict[str, float]
    in_collectives_s: dict[str, float]
    spread: float | None
    """(most - least) / median of the time in MPI; None where there was none."""
    waited_for: list[int]
    """The 5 % of ranks that waited least."""


def summary(path: Path) -> Totals:
    """How uneven the ranks are: a rank that waits little in MPI is one that others wait for.

    Raises TableError for a log without APMPI, MissingPartError where the library is missing.
    """
    records = _records(path)
    if len(records) < 2:
        raise TableError(f"{path}: APMPI has records of {len(records)} ranks: there is nothing to compare")
    import numpy as np

    in_mpi_s = np.array([float(record[IN_MPI]) for record in records])
    in_collectives_s = np.array([sum(float(record.get(name, 0)) for name in COLLECTIVE_TIMES) for record in records])
    least = np.argsort(in_mpi_s, kind="stable")[: max(1, -(-len(records) // 20))]
    median_s = float(np.median(in_mpi_s))
    return Totals(
        ranks=len(records),
        in_mpi_s=_range(in_mpi_s.tolist()),
        in_collectives_s=_range(in_collectives_s.tolist()),
        spread=float(np.ptp(in_mpi_s)) / median_s if median_s > 0 else None,
        waited_for=[int(records[place]["rank"]) for place in least],
    )


def _range(spent_s: list[float]) -> dict[str, float]:
    return {"least": min(spent_s), "median": median(spent_s), "most": max(spent_s)}


def _records(path: Path) -> list[Any]:
    try:
        import darshan
    except ImportError as error:
        raise missing_extra("Darshan logs need PyDarshan", "logs") from error
    if not path.is_file():
        raise TableError(f"{path}: there is no such file")
    try:
        report = darshan.DarshanReport(str(path), read_all=False)
        if "APMPI" not in report.modules:
            raise TableError(f"{path}: the log has no records of APMPI: nothing is known of its ranks' time in MPI")
        report.mod_read_all_apmpi_records("APMPI")
        found = report.records["APMPI"]
        # The first record is a header; a record is itself a collection, with the keys of its one member.
        return [{**found[place]["all_counters"], "rank": found[place]["rank"]} for place in range(1, len(found))]
    except (RuntimeError, OSError, ValueError, KeyError) as error:
        raise TableError(f"{path}: cannot be read as a Darshan log: {error}") from error
