"""`modescope service-rate`: how fast a server works while nothing blocks it, from a trace of counts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli.printing import as_json
from orchestrator.contracts.errors import TableError
from orchestrator.contracts.tables import read_columns

if TYPE_CHECKING:
    from analysis.service_rate import Estimate, Outcome, Trace

TRACE_COLUMNS = ("time_s", "count", "blocked")
COLUMNS = ("time_s", "rate", "low", "high", "rate_published")


@click.command(name="service-rate")
@click.argument("file", metavar="TRACE", type=click.Path(path_type=Path))
@click.option("--json", "json_wanted", is_flag=True, help="Print one line of JSON, with everything that was found.")
def service_rate(file: Path, json_wanted: bool) -> None:
    """Estimate how fast a server works while nothing blocks it, from TRACE (CSV, plain or .gz).

    TRACE has the columns time_s (end of a period; all periods are as long as the median step), count (items finished
    in it) and blocked (1: the server was starved or held back at some time in it; the period is dropped).

    Prints a row for every estimate that settled: items a second, with a 95 % interval; partial periods that nobody
    marked and outliers are taken out. rate_published is the well-behaved maximum of Beard and Chamberlain (2015);
    it is empty where inter-completion times were used, because periods hold no item or one. Changes of phase, and
    the reason where there is no estimate, are told on stderr.

    \b
    Example:
      printf 'time_s,count,blocked\\n0.1,52,0\\n0.2,47,0\\n0.3,12,1\\n' > trace.csv
      modescope service-rate trace.csv
    """
    from analysis.service_rate import outcomes

    trace = _read(file)
    found = list(outcomes(trace))
    if json_wanted:
        basis = "inter-completion times" if trace.is_sparse else "counts"
        as_json({"period_s": trace.period_s, "basis": basis, "outcomes": [one.as_dict() for one in found]})
        return
    _print(found)


def _read(file: Path) -> Trace:
    import numpy as np

    from analysis.errors import AnalysisError
    from analysis.service_rate import Trace

    columns = read_columns(file, TRACE_COLUMNS)
    time_s, count, blocked = (np.array(columns[name]) for name in TRACE_COLUMNS)
    strange = np.flatnonzero((blocked != 0) & (blocked != 1))
    if len(strange):
        raise TableError(f"{file}: column 'blocked' is 0 or 1, not {blocked[strange[0]]:g}")
    try:
        return Trace(time_s=time_s, count=count, blocked=blocked == 1)
    except AnalysisError as error:
        raise TableError(f"{file}: {error}") from error


def _print(found: Iterable[Outcome]) -> None:
    from analysis.service_rate import Estimate, NoEstimate, PhaseChange

    click.echo(_line(COLUMNS), nl=False)
    for outcome in found:
        match outcome:
            case Estimate():
                click.echo(_line(_cells(outcome)), nl=False)
            case PhaseChange(began_s=began_s, ratio=ratio):
                word = "fell" if ratio < 1 else "rose"
                click.echo(f"the rate {word} to {100 * ratio:.3g} % of what it was at {began_s:g} s", err=True)
            case NoEstimate(time_s=time_s, reason=reason):
                click.echo(f"no estimate at {time_s:g} s: {reason}", err=True)


def _cells(estimate: Estimate) -> tuple[object, ...]:
    published = "" if estimate.rate_published is None else estimate.rate_published
    return (estimate.time_s, estimate.rate, estimate.low, estimate.high, published)


def _line(cells: Iterable[object]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()
