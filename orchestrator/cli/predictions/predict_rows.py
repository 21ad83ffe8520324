"""What `modescope predict` learns from a table, and the rows it writes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import numpy as np

from analysis import prediction
from analysis.mixture import Selection, select_each
from analysis.prediction import LEVELS, Error, Evaluation, Predictions, Predictor, Split
from analysis.prediction.extras import extra_trees
from orchestrator.cli import files, printing
from orchestrator.contracts.errors import TableError
from orchestrator.contracts.tables import Table, read_cells

# Mixtures of so many configurations tell where several modes are; more would only take time.
JUDGED = 800
QUANTILES = tuple(f"q{round(100 * level):02d}" for level in LEVELS)
MIXTURE = ("family", "components", "weights", "locations", "scales")


@dataclass(frozen=True, kw_only=True)
class Job:
    """A table of measured samples, and how to learn from it."""

    table: Table
    seed: int
    processes: int

    @cached_property
    def rows(self) -> list[tuple[str, ...]]:
        """The labels of the samples that hold runs."""
        return [sample.labels for sample in self.table.samples if len(sample.values)]

    @cached_property
    def samples(self) -> list[Sequence[float]]:
        """The values of the samples that hold runs."""
        return [sample.values for sample in self.table.samples if len(sample.values)]

    def selections(self, most: int | None = None) -> list[Selection | None]:
        """The mixtures of the samples, of `most` of them at random; None where there is none."""
        extra_trees(1, 1, self.seed, self.processes)  # before minutes of fits: is it installed?
        order = np.random.default_rng(self.seed).permutation(len(self.samples))[:most]
        found = select_each([self.samples[at] for at in order], processes=self.processes)
        every: list[Selection | None] = [None] * len(self.samples)
        for at, one in zip(order, printing.counted("fitting", found, len(order)), strict=True):
            every[at] = one.brief() if isinstance(one, Selection) else None
        return every


def predicted(job: Job, at: Path, out: Path | None, *, bands: bool, mixtures: bool, csv_wanted: bool) -> dict[str, Any]:
    """Predict the rows of a file of points, and write them; the same as JSON values. Raises `TableError`."""
    asked = _points(job.table, at)
    if out is not None:
        files.check_writable(out)
    predictor = Predictor.fit(
        job.table.label_names,
        job.rows,
        job.samples,
        modality=prediction.evidence(job.selections(JUDGED)),
        seed=job.seed,
        processes=job.processes,
    )
    found = predictor.predict(asked)
    columns = [*QUANTILES, "p_multimodal", "extrapolated"]
    columns += _band_columns() if bands else []
    columns += MIXTURE if mixtures else []
    told = [[*_row(found, row), *(_band(found, row) if bands else ())] for row in range(len(asked))]
    if mixtures:
        told = [[*cells, *_mixture(predictor, found, row)] for row, cells in enumerate(told)]
    _write([*job.table.label_names, *columns], [[*a, *b] for a, b in zip(asked, told, strict=True)], out, csv_wanted)
    away = int(np.sum(found.extrapolated))
    click.echo(f"predicted: {len(asked)} configurations, {away} of them extrapolated", err=True)
    rows = [dict(zip(columns, cells, strict=True)) for cells in told]
    labels = [dict(zip(job.table.label_names, row, strict=True)) for row in asked]
    return {"measured": len(job.rows), "rows": [{**a, **b} for a, b in zip(labels, rows, strict=True)]}


def evaluated(job: Job, text: str, out: Path | None, *, table_wanted: bool) -> dict[str, Any]:
    """Evaluate predictions of left-out configurations; the errors go to `out`. The summary as JSON values."""
    split = Split.parse(text)
    next(split.parts(job.table.label_names, job.rows, np.random.default_rng(job.seed)))  # a wrong name is told at once
    if out is not None:
        files.check_writable(out)
    selections = job.selections()
    known = [at for at, one in enumerate(selections) if one is not None]
    flags = np.zeros(len(selections), dtype=bool)
    flags[known] = prediction.flagged([one for one in selections if one is not None])
    result = prediction.evaluate(
        prediction.Samples(
            names=job.table.label_names, rows=job.rows, values=job.samples, selections=selections, flags=flags
        ),
        split,
        seed=job.seed,
        processes=job.processes,
        progress=lambda words: click.echo(f"leaving out: {words}", err=True),
    )
    if out is not None:
        names = [field.name for field in fields(Error) if field.name != "row"]
        rows = [[*job.rows[e.row], *(_cell(asdict(e)[name]) for name in names)] for e in result.errors]
        _write([*job.table.label_names, *names], rows, out, wanted=True)
    if table_wanted:
        click.echo("\n".join(_lines(result)))
    return {"evaluate": text, "configurations": len(job.rows), **result.summary()}


def _points(table: Table, path: Path) -> list[tuple[str, ...]]:
    """The rows of labels asked for, in the table's order of columns."""
    header, cells = read_cells(path)
    constant = {
        name: table.samples[0].labels[at]
        for at, name in enumerate(table.label_names)
        if len({sample.labels[at] for sample in table.samples}) == 1
    }
    missing = [name for name in table.label_names if name not in header and name not in constant]
    if missing:
        raise TableError(f"{path}: row 1: no column is named {missing[0]!r}; the labels are {table.label_names}")
    return [tuple(row.get(name, constant.get(name, "")) for name in table.label_names) for row in cells]


def _row(found: Predictions, row: int) -> list[object]:
    chance = None if found.p_multimodal is None else round(float(found.p_multimodal.multimodal[row]), 4)
    return [*(_number(q) for q in found.quantiles[row]), chance, _cell(bool(found.extrapolated[row]))]


def _band_columns() -> list[str]:
    sides = [f"{name}_{side}" for name in QUANTILES for side in ("low", "high")]
    return [*sides, "p_multimodal_low", "p_multimodal_high"]


def _band(found: Predictions, row: int) -> Iterator[object]:
    for low, high in zip(found.low[row], found.high[row], strict=True):
        yield from (_number(low), _number(high))
    for side in ("low", "high"):
        values = None if found.p_multimodal is None else getattr(found.p_multimodal, side)
        yield None if values is None else round(float(values[row]), 4)


def _mixture(predictor: Predictor, found: Predictions, row: int) -> list[object]:
    best = found.selection(row, runs=predictor.runs).best
    lists = (best.weights, best.locations, best.scales)
    return [best.family, best.components, *(" ".join(f"{number:.6g}" for number in one) for one in lists)]


def _lines(result: Evaluation) -> Iterator[str]:
    """The summary as a table for people."""
    names = ("n", "extrapolated", "ks", "ks_nearest", "ks_mesh", "excess_crps", "covered", "auc_multimodal")
    summary = result.summary()
    parts = {"all": summary["all"], "interpolated": summary["interpolated"], **summary["left_out"]}
    width = max(map(len, parts))
    yield " ".join([" " * width, *(f"{name:>14}" for name in names)])
    for part, told in parts.items():
        yield " ".join([f"{part:{width}}", *(f"{_figure(told.get(name)):>14}" for name in names)])
    yield f"training {result.train_s:.1f} s in all, a prediction {1000 * result.predict_s:.1f} ms"


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _number(value: float) -> float:
    return float(f"{value:.9g}")


def _cell(value: object) -> object:
    """As a CSV tells it: true and false in small letters."""
    return str(value).lower() if isinstance(value, bool) else value


def _write(header: Sequence[str], rows: Sequence[Sequence[object]], out: Path | None, wanted: bool) -> None:
    if out is None and not wanted:
        return
    stream = io.StringIO()
    write = csv.writer(stream, lineterminator="\n").writerow
    write(header)
    for row in rows:
        write(["" if cell is None else cell for cell in row])
    if out is None:
        click.echo(stream.getvalue(), nl=False)
    else:
        files.write_whole(out, [stream.getvalue().encode()])
