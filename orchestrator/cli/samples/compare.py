"""`modescope compare`: two campaigns or files, configuration by configuration."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli import endpoint, printing
from orchestrator.cli.endpoint import Service
from orchestrator.cli.files import check_writable, write_whole
from orchestrator.cli.samples import quantiles, sides

if TYPE_CHECKING:
    from orchestrator.comparison import Compared, Pair

SHIFT_COLUMNS = ("a", "b", "shift", "low", "high", "p", "fdr")
DISTANCE_COLUMNS = ("wasserstein", "ks", "ks_p", "ks_fdr")


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--quantiles", "wanted", callback=quantiles.parse, default="0.1,0.5,0.9", show_default=True)
@click.option("--labels", help="Label columns of files, comma-separated.  [default: all that are not values]")
@click.option("--fdr", type=click.FloatRange(0, 1), default=0.05, show_default=True, help="False-discovery rate.")
@click.option("--verdicts/--no-verdicts", default=True, help="Fit files, to tell changes of verdict; it takes longest.")
@click.option("--processes", type=click.IntRange(1), default=1, show_default=True, help="Processes to fit in.")
@click.option("--out", type=click.Path(path_type=Path), help="Write one row per configuration here (CSV).")
@endpoint.service
def compare(
    *,
    a: str,
    b: str,
    wanted: tuple[float, ...],
    labels: str | None,
    fdr: float,
    verdicts: bool,
    processes: int,
    out: Path | None,
    service: Service,
    as_json: bool,
) -> None:
    """Compare A and B: each a campaign's number, or a CSV file (plain or .gz).

    For every configuration that both have: how far its quantiles moved (B less A, with 95 % intervals from the exact
    bootstrap), Wasserstein and Kolmogorov-Smirnov distance, and the verdicts. `fdr` columns are Benjamini-Hochberg
    values over all configurations. Runs are taken to be independent: where jobs differ, intervals are too narrow.

    \b
    Example:
      modescope compare 3 5 --out changes.csv
      modescope compare before.csv after.csv --no-verdicts
    """
    from orchestrator.comparison import compare_tables

    if out is not None:
        check_writable(out)
    names = None if labels is None else tuple(name.strip() for name in labels.split(","))
    read = partial(sides.read, service=service, labels=names, verdicts=verdicts, processes=processes)
    side_a, side_b = read(a), read(b)
    found = compare_tables(
        side_a.table,
        side_b.table,
        quantiles=wanted,
        verdicts=(side_a.verdicts, side_b.verdicts),
        follow=partial(printing.counted, "comparing"),
    )
    if out is not None:
        write_whole(out, rows(found, wanted))
    if as_json:
        printing.as_json(_as_json(found, fdr))
    else:
        _print(found, wanted, fdr)


def rows(found: Compared, wanted: Sequence[float]) -> Iterator[bytes]:
    """The CSV file: labels, numbers of values, verdicts, then columns a quantile, then the distances."""
    of_quantiles = [f"{column}_{q:g}" for q in wanted for column in SHIFT_COLUMNS]
    yield _line(
        [*found.label_names, "n_a", "n_b", "verdict_a", "verdict_b", *of_quantiles, *DISTANCE_COLUMNS]
    )  # fmt: skip
    for pair in found.pairs:
        yield _line(_cells(pair))


def _cells(pair: Pair) -> list[object]:
    one, among = pair.comparison, pair.false_discovery
    of_quantiles = [
        cell
        for moved, q_value in zip(one.shifts, among.shifts, strict=True)
        for cell in (moved.a, moved.b, moved.difference, moved.low, moved.high, moved.p, q_value)
    ]
    judged = (pair.verdict_a or "", pair.verdict_b or "")
    return [*pair.labels, one.n_a, one.n_b, *judged, *of_quantiles, one.wasserstein, one.ks, one.ks_p, among.ks]


def _line(cells: Iterable[object]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(list(cells))
    return text.getvalue().encode()


def _as_json(found: Compared, fdr: float) -> dict[str, Any]:
    return {
        "label_names": found.label_names,
        "fdr": fdr,
        "compared": len(found.pairs),
        "changed": sum(pair.changed(fdr) for pair in found.pairs),
        "only_a": found.only_a,
        "only_b": found.only_b,
        "too_few": found.too_few,
        "configurations": [
            {
                "labels": pair.labels,
                "verdict_a": pair.verdict_a,
                "verdict_b": pair.verdict_b,
                "changed": pair.changed(fdr),
                "moved": [shift.q for shift in pair.moved(fdr)],
                **asdict(pair.comparison),
                "false_discovery": asdict(pair.false_discovery),
            }
            for pair in found.pairs
        ],
    }


def _print(found: Compared, wanted: Sequence[float], fdr: float) -> None:
    from orchestrator.cli.samples import shift_tables

    changed = sum(pair.changed(fdr) for pair in found.pairs)
    click.echo(
        f"{changed:,} of {len(found.pairs):,} configurations have another distribution "
        f"(Kolmogorov-Smirnov, false-discovery rate {fdr:g})."
    )
    console = printing.console()
    console.print(shift_tables.of_quantiles(found, wanted, fdr))
    if verdicts := found.verdicts():
        console.print(shift_tables.of_verdicts(verdicts))
    if changed:
        console.print(shift_tables.of_changed(found, fdr))
    for labels, who in ((found.only_a, "only A has"), (found.only_b, "only B has"), (found.too_few, "too few values")):
        if labels:
            click.echo(f"{who}: {len(labels):,} configurations, such as {' '.join(labels[0])}", err=True)
