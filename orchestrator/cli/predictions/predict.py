"""`modescope predict`: the distribution of configurations that were never run."""

from __future__ import annotations

from pathlib import Path

import click


def _names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(name.strip() for name in value.split(","))


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--at", type=click.Path(path_type=Path), help="CSV of the configurations asked for: FILE's label columns."
)
@click.option("--out", type=click.Path(path_type=Path), help="Write the CSV here.  [default: stdout]")
@click.option("--evaluate", "split", help="Instead of --at: folds=5, leave=FACTOR or train-share=0.2.")
@click.option("--bands", is_flag=True, help="Add 80 % bands: q01_low, q01_high, ..., p_multimodal_low and _high.")
@click.option("--mixtures", is_flag=True, help="Add the mixture: family, components, weights, locations, scales.")
@click.option("--labels", callback=_names, help="Label columns, comma-separated.  [default: all that are not values]")
@click.option("--value", help="Column of the values, one run a row.  [default: throughput or throughput_kbps]")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of trees and folds.")
@click.option("--processes", type=click.IntRange(1), default=2, show_default=True, help="Processors to use.")
@click.option("--json", "json_wanted", is_flag=True, help="Print one line of JSON; CSV only with --out.")
def predict(  # noqa: PLR0917 - one parameter per option of the command
    file: Path,
    at: Path | None,
    out: Path | None,
    split: str | None,
    bands: bool,
    mixtures: bool,
    labels: tuple[str, ...] | None,
    value: str | None,
    seed: int,
    processes: int,
    json_wanted: bool,
) -> None:
    """Predict the throughput distribution of configurations that were never run, from those in FILE.

    One row is written for each row of --at, in order: its labels, the quantiles q01 to q99 (never decreasing),
    p_multimodal (the chance that its sample would be flagged) and extrapolated (true outside the measured range of a
    number, at a name never measured, or far from all measured points: trust such rows least).

    --evaluate leaves measured configurations out, predicts them from the others, and tells the mean distance of
    Kolmogorov and Smirnov between prediction and sample (ks), the excess of the CRPS over that of the sample itself,
    as a share of the median (excess_crps), how many medians fall in their 80 % bands (covered), and how well
    p_multimodal tells flagged configurations from others (auc_multimodal). Beside it: the nearest neighbour, and a
    Delaunay mesh. Two halves of one sample of 150 are .135 apart.

    \b
    Example:
      modescope predict runs.csv.gz --at missing.csv --out predicted.csv
      modescope predict runs.csv.gz --evaluate folds=5 --json
      modescope predict runs.csv.gz --evaluate leave=record_size_kb --out errors.csv
    """
    from orchestrator.cli.predictions import predict_rows
    from orchestrator.contracts.tables import read_table

    if (at is None) == (split is None):
        raise click.UsageError("either --at or --evaluate is needed, and only one of them.")
    if split is not None and (bands or mixtures):
        raise click.UsageError("--bands and --mixtures belong to --at.")
    table = read_table(file, labels, value=value)
    job = predict_rows.Job(table=table, seed=seed, processes=processes)
    if split is not None:
        told = predict_rows.evaluated(job, split, out, table_wanted=not json_wanted)
    else:
        assert at is not None  # noqa: S101 - checked above
        told = predict_rows.predicted(job, at, out, bands=bands, mixtures=mixtures, csv_wanted=not json_wanted)
    if json_wanted:
        from orchestrator.cli import printing

        printing.as_json(told)
