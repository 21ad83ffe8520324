"""The features of the paper's Tables 1 and 2, from a table of jobs; and its procedure as one model among others.

Columns with the paper's names are taken as they are. Of tables in the columns of the TOKIO-ABC study (`darshan_*`,
`fs_*`) they are reckoned; the maximum of a file system's samples stands for their 95th percentile, which is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.log_prediction.jobs import Jobs
from analysis.log_prediction.published.classes import Classes, predict_classes
from analysis.log_prediction.published.procedure import Chosen, Report, Select
from analysis.log_prediction.published.records import Records, Source
from orchestrator.contracts.errors import TableError
from orchestrator.job_logs import jobs as from_table
from orchestrator.job_logs.table import JobTable

FEWEST_FEATURES = 2
PROGRAM_PARTS = 3  # of a key: direction, program, layout


@dataclass(frozen=True, kw_only=True)
class _Reckoned:
    """A feature from other columns; None where one of them is not there."""

    columns: tuple[str, ...]
    of: Callable[..., Array]


def _sum(*columns: Array) -> Array:
    total: Array = np.sum(columns, axis=0)
    return total


def _percent(part: Array, whole: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Array = np.where(whole > 0, 100.0 * part / whole, np.nan)
    return share


def _same(column: Array) -> Array:
    return column


_OPERATIONS = (
    "close", "getattr", "getxattr", "link", "mkdir", "mknod", "open", "rename", "rmdir", "setattr", "statfs", "unlink",
)  # fmt: skip
SCHEDULER = {
    "NumProcs": _Reckoned(columns=("darshan_nprocs",), of=_same),
    "NumNodes": None,
    "StripeCount": None,
    "StripeSize": None,
}
APPLICATION = {
    "NumFile": _Reckoned(columns=("darshan_biggest_read_api_files", "darshan_biggest_write_api_files"), of=_sum),
    "SeqReadPct": _Reckoned(columns=("darshan_tot_seq_reads_posix", "darshan_tot_reads_posix"), of=_percent),
    "SeqWritePct": _Reckoned(columns=("darshan_tot_seq_writes_posix", "darshan_tot_writes_posix"), of=_percent),
    "ConsecReadPct": None,
    "ConsecWritePct": None,
    "ReadLess1M": None,
    "WriteLess1M": None,
    "ReadLess1MPct": None,
    "WriteLess1MPct": None,
    "TotalMetaReq": _Reckoned(columns=("darshan_tot_opens_posix", "darshan_tot_stats_posix"), of=_sum),
    "TotalReadReq": _Reckoned(columns=("darshan_tot_reads_posix",), of=_same),
    "TotalWriteReq": _Reckoned(columns=("darshan_tot_writes_posix",), of=_same),
    "ReadBytesTotal": _Reckoned(columns=("darshan_tot_bytes_read_posix",), of=_same),
    "WriteBytesTotal": _Reckoned(columns=("darshan_tot_bytes_written_posix",), of=_same),
}
FILE_SYSTEM = {
    "mdsCPUMean": _Reckoned(columns=("fs_ave_mds_cpu",), of=_same),
    "mdsCPU95": _Reckoned(columns=("fs_max_mds_cpu",), of=_same),
    "mdsOPSMean": _Reckoned(columns=tuple(f"fs_ave_{one}_ops_per_sec" for one in _OPERATIONS), of=_sum),
    "mdsOPS95": _Reckoned(columns=tuple(f"fs_max_{one}_ops_per_sec" for one in _OPERATIONS), of=_sum),
    "ossCPUMean": _Reckoned(columns=("fs_ave_oss_cpu",), of=_same),
    "ossCPU95": _Reckoned(columns=("fs_max_oss_cpu",), of=_same),
    "ossReadMean": _Reckoned(columns=("fs_ave_bytes_read_per_sec",), of=_same),
    "ossRead95": _Reckoned(columns=("fs_max_bytes_read_per_sec",), of=_same),
    "ossWriteMean": _Reckoned(columns=("fs_ave_bytes_written_per_sec",), of=_same),
    "ossWrite95": _Reckoned(columns=("fs_max_bytes_written_per_sec",), of=_same),
}
_MOVED = {
    from_table.WRITE: ("darshan_tot_bytes_written_posix", "fs_tot_bytes_written"),
    from_table.READ: ("darshan_tot_bytes_read_posix", "fs_tot_bytes_read"),
}


def features(table: JobTable) -> dict[str, tuple[Source, Array]]:
    """The features of Tables 1 and 2 that the table tells, (rows,) each; the throughputs are targets, not features."""
    found = {}
    sources = ((Source.SCHEDULER, SCHEDULER), (Source.APPLICATION, APPLICATION), (Source.FILE_SYSTEM, FILE_SYSTEM))
    for source, wanted in sources:
        for name, reckoned in wanted.items():
            values = _values(table, name, reckoned)
            if values is not None and np.any(np.isfinite(values)):
                found[name] = (source, values)
    return found


def records(table: JobTable, chosen: from_table.Chosen) -> Records:
    """The jobs as the procedure sees them. Raises TableError where hardly any of its features is told."""
    told = features(table)
    if len(told) < FEWEST_FEATURES:
        raise TableError(f"{table.path}: none of the paper's features is there (docs/log-prediction.md names them)")
    rows = np.array(chosen.rows)
    return Records(
        start_s=chosen.jobs.start_s,
        end_s=chosen.jobs.end_s,
        target=chosen.jobs.throughput,
        owners=_owners(table, chosen),
        names=tuple(told),
        sources=tuple(source for source, _ in told.values()),
        values=np.column_stack([values for _, values in told.values()])[rows],
        intensity=_intensity(table, chosen.jobs.directions, rows),
    )


@dataclass(kw_only=True)
class PublishedModel:
    """The procedure, once a direction, as a model for `evaluate`; remembers what it chose."""

    records: Records
    select: Select
    classes: Classes
    seed: int
    processes: int
    report: Report
    chosen: dict[str, dict[str, Chosen]]  # by direction and class

    def __call__(self, jobs: Jobs, training: Flags) -> Array:
        """Logarithms of throughput, (n,)."""
        found = np.full(len(jobs), np.nan)
        for direction in sorted(set(jobs.directions)):
            places = np.flatnonzero(jobs.of_direction(direction))
            self.report(f"paper: {direction}s")
            outcomes = predict_classes(
                self.records.chosen(places),
                training[places],
                classes=self.classes,
                select=self.select,
                seed=self.seed,
                processes=self.processes,
                report=self.report,
            )
            self.chosen[direction] = {name: one.chosen for name, one in outcomes.items() if one.chosen is not None}
            if not self.chosen[direction]:
                self.report(f"paper: {direction}s: too few jobs to learn from")
            for one in outcomes.values():
                told = np.isfinite(one.predicted)
                found[places[told]] = np.log(one.predicted[told])
        return found


def _values(table: JobTable, name: str, reckoned: _Reckoned | None) -> Array | None:
    if name in table.columns:
        return table.numbers(name)
    if reckoned is None or any(one not in table.columns for one in reckoned.columns):
        return None
    values: Array = reckoned.of(*(table.numbers(one) for one in reckoned.columns))
    return values


def _owners(table: JobTable, chosen: from_table.Chosen) -> tuple[tuple[str, str, str], ...]:
    """Program, user, group. One benchmark program run in four ways is four programs: the key tells them apart."""
    users, groups = (_cells(table, names) for names in (("UserName", "user"), ("GroupID", "group")))
    return tuple(
        ("/".join(key[1:PROGRAM_PARTS]), users[row], groups[row])
        for key, row in zip(chosen.jobs.keys, chosen.rows, strict=True)
    )


def _cells(table: JobTable, names: Sequence[str]) -> Sequence[str]:
    named = table.first_of(names)
    return table.text(named) if named else [""] * len(table)


def _intensity(table: JobTable, directions: Sequence[str], rows: Indices) -> Array:
    """WriteBytesPct; where OST use is not known, the job's share of the bytes that moved in the whole file system."""
    if "WriteBytesPct" in table.columns:
        told: Array = table.numbers("WriteBytesPct")[rows]
        return told
    shares: Mapping[str, Array] = {
        direction: _percent(table.numbers(part), table.numbers(whole))
        for direction, (part, whole) in _MOVED.items()
        if part in table.columns and whole in table.columns
    }
    nothing = np.full(len(table), np.nan)
    return np.array([shares.get(direction, nothing)[row] for direction, row in zip(directions, rows, strict=True)])
