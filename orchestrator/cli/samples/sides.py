"""One side of a comparison: a CSV file, or what a campaign measured."""

from __future__ import annotations

import csv
import io
import itertools
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli import printing
from orchestrator.contracts.errors import TableError
from orchestrator.contracts.tables import LabelledSample, Table, read_table

if TYPE_CHECKING:
    from orchestrator.cli.endpoint import Service
    from orchestrator.client import Client

BEHIND_MODE = 2
"""In an export the values stand behind mode and replicate."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """Samples, and by their labels the verdicts that are known."""

    table: Table
    verdicts: dict[tuple[str, ...], str]


def read(text: str, *, service: Service, labels: Sequence[str] | None, verdicts: bool, processes: int) -> Side:
    """A campaign where `text` is a number and no file, else a file; its samples are fitted if verdicts are wanted."""
    if text.isdecimal() and not Path(text).exists():
        with service() as client:
            return _campaign(client, int(text))
    table = read_table(Path(text), labels)
    return Side(table=table, verdicts=_judged(table, processes) if verdicts else {})


def _campaign(client: Client, campaign_id: int) -> Side:
    """The runs that count, controls aside, and the campaign's own verdicts."""
    factors = client.campaign(campaign_id).factors
    names = (*factors, "mode")
    table = _grouped(names, csv.reader(_lines(client.export(campaign_id))), f"campaign {campaign_id}")
    judged = {
        (*map(str, one.levels), one.mode): one.verdict
        for one in client.configurations(campaign_id)
        if one.verdict is not None and one.control is None
    }
    return Side(table=table, verdicts=judged)


def _grouped(names: tuple[str, ...], rows: Iterator[list[str]], what: str) -> Table:
    """The labels are the first columns of an export. A million rows: a mapping for each would take most of the time."""
    header = next(rows, [])
    value, validity = len(names) - 1 + BEHIND_MODE, len(header) - header[::-1].index("valid") - 1
    samples: dict[tuple[str, ...], array[float]] = {}
    for row in rows:
        labels = tuple(row[: len(names)])
        if row[validity] == "valid" and any(labels[:-1]):
            samples.setdefault(labels, array("d")).append(float(row[value]))
    if not samples:
        raise TableError(f"{what} has measured nothing yet")
    found = tuple(LabelledSample(labels=labels, values=values) for labels, values in samples.items())
    return Table(label_names=names, samples=found)


def _lines(pieces: Iterable[bytes]) -> Iterable[str]:
    """Lines of text from pieces that end anywhere."""
    rest = b""
    for piece in itertools.chain(pieces, [b""]):
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line.decode() + "\n" for line in whole)
    if rest:
        yield from io.StringIO(rest.decode())


def _judged(table: Table, processes: int) -> dict[tuple[str, ...], str]:
    """Verdicts as `modescope fit` gives them; what cannot be fitted has none."""
    from analysis import modality
    from analysis.mixture import Options, Selection, select_each

    options = Options()
    found = select_each([sample.values for sample in table.samples], options=options, processes=processes)
    results = list(printing.counted("fitting", found, len(table.samples)))
    selected = [
        (sample.labels, result)
        for sample, result in zip(table.samples, results, strict=True)
        if isinstance(result, Selection)
    ]
    q_values = modality.dip_q_values([result.dip_p for _, result in selected])
    return {
        labels: modality.verdict(result, dip_q=q, options=options).kind
        for (labels, result), q in zip(selected, q_values, strict=True)
    }
