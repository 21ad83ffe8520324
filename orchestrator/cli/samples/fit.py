"""`modescope fit`: mixtures for every configuration of a CSV file."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

import click

from analysis import modality
from analysis.mixture import FAMILY_NAMES, Failure, Fit, Options, Selection, select_each
from orchestrator.cli import printing
from orchestrator.cli.samples import quantiles as quantile_rows
from orchestrator.contracts.errors import TableError
from orchestrator.contracts.tables import Table, read_table

PARAMETER_COLUMNS = ("weights", "locations", "scales")
SUMMARY_COLUMNS = (
    *("n", "n_distinct", "components", "family", "bic", "loglik", "density_modes", "bic_gap", "dip_p", "dip_q"),
    *("verdict", "likelihood", "resolution", "floor_active", *PARAMETER_COLUMNS),
)
TABLE_COLUMNS = ("components", "family", "loglik", "bic", "converged", "floor_active", *PARAMETER_COLUMNS)
DEFAULTS = Options()
INTERRUPTED = 130


def _names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(name.strip() for name in value.split(","))


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--families", callback=_names, default=",".join(FAMILY_NAMES), show_default=True, help="Families to fit.")
@click.option(
    "--max-components", type=int, default=DEFAULTS.max_components, show_default=True, help="Largest k, 1 to 5."
)
@click.option("--processes", type=click.IntRange(1), default=1, show_default=True, help="Processes to fit in.")
@click.option("--floor", type=float, default=DEFAULTS.floor, show_default=True, help="Smallest sigma, in sample sds.")
@click.option("--likelihood", type=click.Choice(["auto", "point", "interval"]), default="auto", show_default=True)
@click.option("--labels", callback=_names, help="Label columns, comma-separated.  [default: all that are not values]")
@click.option("--value", help="Column of the values, one run a row.  [default: throughput or throughput_kbps]")
@click.option("--unit", default="kB/s", show_default=True, help="Unit of the values, for the sentences on stderr.")
@click.option("--out", type=click.Path(path_type=Path), help="Write one row per configuration here.  [default: stdout]")
@click.option("--table", "table_out", type=click.Path(path_type=Path), help="Write every fit, a row each, here.")
@click.option("--quantiles", callback=quantile_rows.parse, help="Quantiles to report, as in 0.1,0.9.")
@click.option("--quantiles-out", type=click.Path(path_type=Path), help="Write one row per configuration and quantile.")
@click.option(
    "--se",
    type=click.Choice(quantile_rows.METHODS),
    help="Standard errors; bootstrap repeats the selection.  [default: delta]",
)
@click.option("--resamples", type=click.IntRange(2), default=200, show_default=True, help="Draws of the bootstrap.")
@click.option("--seed", type=click.IntRange(0), default=DEFAULTS.seed, show_default=True, help="Seed of the bootstrap.")
def fit(  # noqa: PLR0917 - one parameter per option of the command
    file: Path,
    families: tuple[str, ...],
    max_components: int,
    processes: int,
    floor: float,
    likelihood: str,
    labels: tuple[str, ...] | None,
    value: str | None,
    unit: str,
    out: Path | None,
    table_out: Path | None,
    quantiles: tuple[float, ...],
    quantiles_out: Path | None,
    se: str | None,
    resamples: int,
    seed: int,
) -> int:
    """Fit mixture distributions to the samples in FILE (CSV, plain or .gz).

    Six families with one to five components are fitted to every configuration, the best is chosen by BIC, and each
    configuration is judged: multimodal, unimodal, mixture or undecided. Ctrl-C keeps the rows that are finished.

    \b
    Example:
      modescope fit samples.csv --out verdicts.csv
      modescope fit samples.csv --out verdicts.csv --quantiles 0.1,0.9 --quantiles-out quantiles.csv --se bootstrap
    """
    quantile_rows.check_together(quantiles, quantiles_out, se)
    request = quantile_rows.Request(quantiles=quantiles, method=se or "delta", resamples=resamples, seed=seed)
    options = Options.from_dict(
        {
            "families": list(families),
            "max_components": max_components,
            "floor": floor,
            "likelihood": likelihood,
        }
    )
    table = read_table(file, labels, value=value)
    with ExitStack() as files:
        summary = _writer(files, out, (*table.label_names, *SUMMARY_COLUMNS))
        fits = None if table_out is None else _writer(files, table_out, (*table.label_names, *TABLE_COLUMNS))
        write = None
        if quantiles_out is not None:
            write = _writer(files, quantiles_out, (*table.label_names, *quantile_rows.COLUMNS))
        results, complete = _fit_all(table, options, processes, fits)
        _write_summary(summary, table, results, options, unit)
        if not complete:
            done = f"{len(results)} of {len(table.samples)}"
            click.echo(f"stopped: {done} configurations are finished and judged", err=True)
        # Who stops the fits does not want to wait for a bootstrap.
        if write is not None and (complete or request.method == "delta"):
            found = quantile_rows.rows(request, table.samples, results, options, processes)
            complete = _write_all(write, found) and complete
    return 0 if complete else INTERRUPTED


def _fit_all(
    table: Table, options: Options, processes: int, fits: Callable[[Sequence[object]], object] | None
) -> tuple[list[Selection | Failure], bool]:
    """The results in the order of the file, and whether all are there; every fit is written as it comes."""
    results: list[Selection | Failure] = []
    samples = [sample.values for sample in table.samples]
    try:
        found = printing.counted("fitting", select_each(samples, options=options, processes=processes), len(samples))
        for sample, result in zip(table.samples, found, strict=True):
            if isinstance(result, Selection) and fits is not None:
                for one in result.table:
                    fits((*sample.labels, *_fit_cells(one)))
            # A whole study of 30 fits each would not fit into memory.
            results.append(result.brief() if isinstance(result, Selection) else result)
    except KeyboardInterrupt:
        return results, False
    return results, True


def _write_summary(
    write: Callable[[Sequence[object]], object],
    table: Table,
    results: Sequence[Selection | Failure],
    options: Options,
    unit: str,
) -> None:
    """Judge what is there together, write a row each, and tell on stderr what is flagged or failed."""
    q_values = iter(modality.dip_q_values([result.dip_p for result in results if isinstance(result, Selection)]))
    kinds: Counter[str] = Counter()
    for sample, result in zip(table.samples, results, strict=False):
        if isinstance(result, Failure):
            kinds["failed"] += 1
            _tell(sample.labels, f"not fitted: {result.message}")
            write((*sample.labels, *_failed_cells(sample.values)))
            continue
        dip_q = next(q_values)
        verdict = modality.verdict(result, dip_q=dip_q, options=options, unit=unit)
        kinds[verdict.kind] += 1
        if result.notice is not None:
            _tell(sample.labels, result.notice)
        if verdict.kind == "multimodal":
            _tell(sample.labels, verdict.sentence)
        write((*sample.labels, *_summary_cells(result, dip_q, verdict.kind)))
    click.echo(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()), err=True)


def _write_all(write: Callable[[Sequence[object]], object], rows: Iterator[Sequence[object]]) -> bool:
    """Write rows as they come; whether all of them came."""
    try:
        for row in rows:
            write(row)
    except KeyboardInterrupt:
        click.echo("stopped: the quantiles written so far are kept", err=True)
        return False
    return True


def _tell(labels: Sequence[str], sentence: str) -> None:
    click.echo(f"{' '.join(labels)}: {sentence}" if labels else sentence, err=True)


def _summary_cells(selection: Selection, dip_q: float, kind: str) -> tuple[object, ...]:
    best = selection.best
    return (
        selection.n,
        selection.n_distinct,
        selection.components,
        selection.family,
        best.bic,
        best.loglik,
        selection.density_modes,
        _or_empty(selection.bic_gap),
        selection.dip_p,
        dip_q,
        kind,
        selection.likelihood,
        _or_empty(selection.resolution),
        _yes_no(selection.floor_active),
        *_parameter_cells(best),
    )


def _failed_cells(values: Sequence[float]) -> tuple[object, ...]:
    cells = dict.fromkeys(SUMMARY_COLUMNS, "") | {"verdict": "undecided"}
    return tuple((cells | {"n": str(len(values)), "n_distinct": str(len(set(values)))}).values())


def _fit_cells(one: Fit) -> tuple[object, ...]:
    judged = (one.components, one.family, one.loglik, one.bic, _yes_no(one.converged), _yes_no(one.floor_active))
    return (*judged, *_parameter_cells(one))


def _parameter_cells(one: Fit) -> tuple[str, ...]:
    return tuple(";".join(map(repr, values)) for values in (one.weights, one.locations, one.scales))


def _or_empty(value: float | None) -> object:
    return "" if value is None else value


def _yes_no(value: bool) -> str:
    return "true" if value else "false"


def _writer(files: ExitStack, path: Path | None, header: Sequence[str]) -> Callable[[Sequence[object]], object]:
    """Write rows below a header, to a file or to stdout."""
    stream: TextIO = sys.stdout if path is None else files.enter_context(_created(path))
    write = csv.writer(stream, lineterminator="\n").writerow
    write(header)
    return write


def _created(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise TableError(f"{path}: cannot be written: {error.strerror}") from error
