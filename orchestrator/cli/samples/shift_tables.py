"""What `modescope compare` shows in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

if TYPE_CHECKING:
    from orchestrator.comparison import Compared, Pair

CHANGES_SHOWN = 20


def of_quantiles(found: Compared, wanted: Sequence[float], fdr: float) -> Table:
    """A row a quantile: how many configurations moved, which way, and how far as a rule."""
    table = _table("quantile", "rose", "fell", "median shift", "middle half of all shifts")
    for place, q in enumerate(wanted):
        all_of_it = [pair.comparison.shifts[place] for pair in found.pairs]
        moved = [shift for pair in found.pairs for shift in pair.moved(fdr) if shift.q == q]
        shares = [one.difference / one.a for one in all_of_it if one.a]
        rose = sum(shift.difference > 0 for shift in moved)
        low, middle, high = np.quantile(shares, (0.25, 0.5, 0.75)) if shares else (0.0, 0.0, 0.0)
        table.add_row(f"{q:g}", f"{rose:,}", f"{len(moved) - rose:,}", f"{middle:+.2%}", f"{low:+.2%} to {high:+.2%}")
    return table


def of_verdicts(counted: Counter[tuple[str, str]]) -> Table:
    """A row a verdict of A, a column a verdict of B."""
    before, after = sorted({a for a, _ in counted}), sorted({b for _, b in counted})
    table = _table("A \\ B", *after)
    for a in before:
        table.add_row(a, *(f"{counted[a, b]:,}" for b in after))
    return table


def of_changed(found: Compared, fdr: float) -> Table:
    """The configurations that changed most, by distance."""
    table = _table(*found.label_names, "median A", "median B", "shift", "95 % interval", "KS", "verdict", words=True)
    changed = sorted((p for p in found.pairs if p.changed(fdr)), key=lambda p: -p.comparison.ks)
    for pair in changed[:CHANGES_SHOWN]:
        table.add_row(*_cells(pair))
    return table


def _cells(pair: Pair) -> list[str]:
    one = pair.comparison
    middle = min(one.shifts, key=lambda shift: abs(shift.q - 0.5))
    shares = [f"{value / middle.a:+.1%}" if middle.a else "" for value in (middle.difference, middle.low, middle.high)]
    verdict = pair.verdict_a or "" if pair.verdict_a == pair.verdict_b else f"{pair.verdict_a} → {pair.verdict_b}"
    return [
        *pair.labels, f"{middle.a:,.6g}", f"{middle.b:,.6g}", shares[0], f"{shares[1]} to {shares[2]}",
        f"{one.ks:.2f}", verdict,
    ]  # fmt: skip


def _table(first: str, *others: str, words: bool = False) -> Table:
    table = Table(box=None, pad_edge=False)
    for place, name in enumerate((first, *others)):
        table.add_column(name, justify="left" if place == 0 or words else "right", no_wrap=True)
    return table
