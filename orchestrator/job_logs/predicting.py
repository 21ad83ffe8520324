"""Jobs that are asked about, predicted from a table of jobs that ran."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from analysis.log_prediction import intervals, trees
from analysis.log_prediction.features import features
from orchestrator.cli import files
from orchestrator.job_logs import jobs as from_table
from orchestrator.job_logs.evaluating import Settings, left_out, require_learning
from orchestrator.job_logs.table import JobTable, read_jobs_table

Row = dict[str, str | float | int]


def predict_table(path: Path, asked: Path | None, settings: Settings, *, report: Callable[[str], None]) -> list[Row]:
    """A row for each job asked about, in their order. Raises TableError, MissingPartError."""
    require_learning()
    table = read_jobs_table(path)
    first_asked = len(table)
    if asked is None:
        first_asked = 0
    else:
        table = _joined(table, read_jobs_table(asked), settings.columns)
    chosen = from_table.jobs_of(table, settings.columns, asked=True)
    left_out(chosen, report)
    jobs = chosen.jobs
    training = np.isfinite(jobs.throughput)
    found = features(jobs, training)
    trained = trees.train(jobs, found, training, seed=settings.seed, processes=settings.processes, report=report)
    low, high = intervals.intervals(jobs, trained.log_predicted, found.spread)
    names = [feature.name for feature in found.columns]
    runs_before, given_up = (found.values[:, names.index(name)] for name in ("runs_before", "key_parts_given_up"))
    rows: dict[int, Row] = {}
    for place in np.flatnonzero(~training):
        row = chosen.rows[place]
        if row >= first_asked and np.isfinite(trained.log_predicted[place]):
            rows[row] = {
                "row": row - first_asked + 2,
                **dict(zip(jobs.key_names, jobs.keys[place], strict=True)),
                "predicted": float(np.exp(trained.log_predicted[place])),
                "low90": float(np.exp(low[place])),
                "high90": float(np.exp(high[place])),
                "history": float(np.exp(found.weighted[place])),
                "runs_before": int(runs_before[place]),
                "key_parts_given_up": int(given_up[place]),
            }
    return [rows[row] for row in sorted(rows)]


def write(rows: Sequence[Row], out: Path | None) -> None:
    """As CSV, into a file or to standard output."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: f"{cell:.6g}" if isinstance(cell, float) else cell for name, cell in row.items()})
    if out is None:
        sys.stdout.write(text.getvalue())
    else:
        files.write_whole(out, [text.getvalue().encode()])


def _joined(ran: JobTable, asked: JobTable, columns: from_table.Columns) -> JobTable:
    """Both tables; what is asked about has no throughput, whatever stands there."""
    target = columns.target or ran.first_of(from_table.TARGETS)
    names = dict.fromkeys([*ran.columns, *asked.columns])
    empty = {name: ("",) * len(asked) for name in names}
    told = {**empty, **asked.columns, **({target: ("",) * len(asked)} if target else {})}
    return JobTable(
        path=asked.path,
        columns={name: (*ran.columns.get(name, ("",) * len(ran)), *told[name]) for name in names},
    )
