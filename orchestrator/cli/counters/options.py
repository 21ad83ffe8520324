"""What all verbs of `modescope counters` ask: which table, which columns, how runs become samples."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click
import numpy as np

from analysis.arrays import Flags, Indices
from analysis.counters import merging
from analysis.counters.features import PLACES
from analysis.counters.samples import Samples
from orchestrator.cli.counters import columns as table_columns
from orchestrator.cli.counters.columns import Columns, Wanted
from orchestrator.contracts.errors import RequestError
from orchestrator.contracts.tables import opened_rows


def _names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(name.strip() for name in value.split(","))


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of counters, as samples."""

    samples: Samples
    columns: Columns
    merge: merging.Merge
    group_by: tuple[str, ...]
    """The labels that name a configuration."""

    @property
    def groups(self) -> Indices:
        """A number for each sample, equal within a configuration; every sample its own where there are no labels."""
        return configurations(self.samples, self.group_by)

    def targets(self, wanted: Sequence[str] | None) -> list[str]:
        """Those that were asked for, or all. Raises NoSuchColumnError."""
        for name in wanted or ():
            self.samples.target(name)
        return [*(self.samples.targets if wanted is None else wanted)]

    def told(self) -> dict[str, Any]:
        """For JSON: how the table was read."""
        return {
            "samples": self.samples.n,
            "columns": asdict(self.columns),
            "merge": self.merge,
            "per_cycle": self.samples.per_cycle,
            "configuration": self.group_by,
            "notes": self.samples.notes,
        }

    def tell(self) -> None:
        """On standard error, for readers of text."""
        cycles = f", per cycle of {self.columns.cycles}" if self.samples.per_cycle else ""
        click.echo(
            f"{self.samples.n} samples; {len(self.samples.rates)} counters{cycles}; frequency: "
            f"{self.columns.frequency or 'none'}; labels: {', '.join(self.samples.labels) or 'none'}",
            err=True,
        )
        for note in self.samples.notes:
            click.echo(note, err=True)


def configurations(samples: Samples, group_by: Sequence[str]) -> Indices:
    """A number for each sample, equal within a configuration."""
    return samples.groups(group_by) if group_by else np.arange(samples.n)


def held_out(samples: Samples, text: str) -> Flags:
    """The samples of `COLUMN=LEVEL,LEVEL`. Raises RequestError."""
    name, equals, levels = text.partition("=")
    if not equals or name not in samples.labels:
        known = ", ".join(samples.labels) or "none"
        raise RequestError(f"--hold-out {text!r}: write LABEL=LEVEL,LEVEL; labels are {known}")
    wanted = {level.strip() for level in levels.split(",")}
    missing = wanted - set(samples.labels[name])
    if missing:
        raise RequestError(f"--hold-out {text!r}: no sample has {name} {sorted(missing)[0]}")
    return np.array([level in wanted for level in samples.labels[name]])


def read(paths: Sequence[Path], wanted: Wanted, merge: merging.Merge, group_by: Sequence[str] | None) -> Table:
    """The samples of a table. Raises TableError."""
    rows, columns = table_columns.read(paths, wanted)
    samples = merging.samples(rows, merge)
    chosen = tuple(name for name in samples.labels if name.lower() not in PLACES) if group_by is None else group_by
    samples.groups(chosen)  # raises where there is no such label
    return Table(samples=samples, columns=columns, merge=merge, group_by=tuple(chosen))


def table(command: Callable[..., None]) -> Callable[..., None]:
    """Options that become one argument, `table`, and the targets that were asked for."""

    @wraps(command)
    def called(
        *, files: tuple[Path, ...], labels: tuple[str, ...] | None, counters: tuple[str, ...] | None,
        targets: tuple[str, ...] | None, frequency: str | None, cycles: str | None, merge: merging.Merge,
        group_by: tuple[str, ...] | None, **others: Any,
    ) -> None:  # fmt: skip
        known = None if targets is None else tuple(targets)
        wanted = Wanted(labels=labels, counters=counters, targets=known, frequency=frequency, cycles=cycles)
        command(table=_with_targets(files, wanted, merge, group_by), targets=targets, **others)

    for option in reversed(_OPTIONS):
        called = option(called)
    return called


def _with_targets(files: Sequence[Path], wanted: Wanted, merge: merging.Merge, group_by: Sequence[str] | None) -> Table:
    """A target may be a column, or one that joining made (`throughput_readers`): look for columns first."""
    with opened_rows(files[0]) as (header, _):
        known = None if wanted.targets is None else tuple(name for name in wanted.targets if name in header)
    return read(files, replace(wanted, targets=known or None), merge, group_by)


def line(cells: Iterable[object]) -> bytes:
    """One line of CSV; nothing for None."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(["" if cell is None else cell for cell in cells])
    return text.getvalue().encode()


def lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    """A CSV file."""
    yield line(header)
    yield from map(line, rows)


def label_cells(samples: Samples, place: int) -> Mapping[str, str]:
    """The labels of one sample."""
    return {name: column[place] for name, column in samples.labels.items()}


_OPTIONS = (
    click.argument("files", metavar="TABLE...", nargs=-1, required=True, type=click.Path(path_type=Path)),
    click.option(
        "--target", "targets", callback=_names, help="Columns to model, comma-separated.  [default: all found]"
    ),
    click.option("--labels", callback=_names, help="Columns that name a configuration.  [default: what is left]"),
    click.option(
        "--counters", callback=_names, help="Columns that are counters, patterns allowed.  [default: by name]"
    ),
    click.option("--frequency", help="Column of the frequency (Hz, kHz, MHz or GHz).  [default: by name]"),
    click.option("--cycles", help="Column of the total cycles.  [default: by name]"),
    click.option(
        "--merge",
        type=click.Choice(merging.MERGES),
        default="auto",
        show_default=True,
        help="How runs become samples; min_runtime is the paper's, auto: median of numbered runs.",
    ),
    click.option(
        "--group-by", callback=_names, help="Labels that make a configuration.  [default: all but host, node, file ...]"
    ),
)
seed_option = click.option("--seed", type=click.IntRange(0), default=20200607, show_default=True)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON instead of tables.")
out_option = click.option("--out", type=click.Path(path_type=Path), help="Write the rows here (CSV).")
