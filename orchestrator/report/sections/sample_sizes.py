"""How precisely quantiles are known, and whether there were runs enough: over the whole campaign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from analysis import sample_size
from analysis.arrays import Array
from analysis.mixture import Options, Selection
from analysis.sample_size.target import LEAST
from orchestrator.contracts.campaigns import Configuration
from orchestrator.report import curves, line_chart, picking
from orchestrator.report.line_chart import Axis, Line, Mark
from orchestrator.report.section import Section, Subject

MOST = 200
"""Configurations that are looked at, spread over the design: quantiles of 200 are good enough for a picture."""
MIDDLE = (0.1, 0.5, 0.9)
SHOWN = tuple(sample_size.sizes(1000))
"""Numbers of runs at which Gamma is drawn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """One configuration: how precisely its quantiles are known, and how many runs are enough."""

    runs: int
    unit_gammas: Mapping[float, float]
    """q -> |Gamma_q(1)|; without those that have no standard error."""
    need: sample_size.Need


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """Quantiles over configurations of |Gamma_q(n)|, with the runs there are."""

    q: float
    configurations: int
    low: float
    median: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """What configurations have in common."""

    looked_at: int
    fitted: int
    runs: int
    """The median number of runs of a configuration."""
    rows: tuple[Row, ...]
    gamma: Markup | None
    """None where no configuration has a standard error."""
    enough: Markup
    needed: tuple[int, int, int]
    """10 %, median and 90 % quantile of the runs that are enough; at most `beyond`."""
    beyond: int
    met: int
    """Configurations that have runs enough."""
    share: float
    """Of the default target."""


def gather(subject: Subject) -> Section | None:
    """Nothing until something is fitted."""
    picked = picking.spread(subject.configurations, MOST)
    if not picked:
        return None
    target = sample_size.Target()
    options = Options.from_dict(dict(subject.study.analysis_options))
    known = [_known(subject, one, target, options) for one in picked]
    runs = int(np.median([one.runs for one in known]))
    needed = [min(one.need.uncapped, target.max_n) for one in known]
    rows = tuple(row for q in target.quantiles if (row := _row(known, q)) is not None)
    low, middle, high = np.quantile(needed, MIDDLE, method="inverted_cdf").tolist()
    content = Content(
        looked_at=len(known),
        fitted=sum(one.family is not None and one.control is None for one in subject.configurations),
        runs=runs,
        rows=rows,
        gamma=_gamma_picture(known, rows, runs) if rows else None,
        enough=_enough_picture([one.need.uncapped for one in known], target.max_n, runs),
        needed=(int(low), int(middle), int(high)),
        beyond=target.max_n,
        met=sum(one.need.uncapped <= one.runs for one in known),
        share=target.share,
    )
    return Section(title="How many runs are enough", template="sample_sizes.html", content=content)


def _known(subject: Subject, one: Configuration, target: sample_size.Target, options: Options) -> Known:
    page = subject.store.campaigns.configuration(one.campaign_id, one.setting_id, one.mode)
    selection, sample = Selection.from_dict(dict(page.selection or {})), np.array(curves.sample_of(page))
    precisions = [sample_size.of_fit(selection.best, q) for q in target.quantiles]
    gammas = {one.q: gamma for one in precisions if (gamma := one.gamma(1)) is not None}
    candidates = sample_size.Candidates.of(selection, options)
    return Known(
        runs=selection.n,
        unit_gammas={q: abs(gamma) for q, gamma in gammas.items()},
        need=sample_size.need(candidates, target, sample_size.centre_of_sample(sample), sample),
    )


def _row(known: list[Known], q: float) -> Row | None:
    found = np.array([one.unit_gammas[q] / one.runs**0.5 for one in known if q in one.unit_gammas])
    if not len(found):
        return None
    low, median, high = np.quantile(found, MIDDLE).tolist()
    return Row(q=q, configurations=len(found), low=low, median=median, high=high)


def _gamma_picture(known: list[Known], rows: tuple[Row, ...], runs: int) -> Markup:
    """All fall with 1 / sqrt(n): straight lines where both axes are logarithmic."""
    of_one = [
        np.quantile([one.unit_gammas[row.q] for one in known if row.q in one.unit_gammas], MIDDLE) for row in rows
    ]
    n = np.array(SHOWN, dtype=np.float64)
    lines = [
        Line(points=_fall(middle, n), low=_fall(low, n), high=_fall(high, n), kind=f"c{place + 1}")
        for place, (low, middle, high) in enumerate(of_one)
    ]
    smallest, largest = min(low for low, _, _ in of_one) / n[-1] ** 0.5, max(high for _, _, high in of_one)
    y = Axis(
        label="|Γ(n)| = standard error / quantile", low=smallest, high=largest,
        ticks=line_chart.powers(smallest, largest, (1, 3)), logarithmic=True, percent=True,
    )  # fmt: skip
    title = "Relative standard error of quantiles against the number of runs"
    return line_chart.draw(title, _runs_axis(1, SHOWN[-1]), y, lines, marks=[Mark(at=runs, text=f"n = {runs:,}")])


def _fall(unit_error: float, n: Array) -> list[tuple[float, float]]:
    return list(zip(n.tolist(), (unit_error / np.sqrt(n)).tolist(), strict=True))


def _enough_picture(needed: list[int], most: int, runs: int) -> Markup:
    """The share of configurations for which n runs are enough: a staircase."""
    ordered = sorted(needed)
    stairs = [(float(LEAST), 0.0)]
    for place, n in enumerate(ordered):
        if n > most:
            break
        stairs += [(float(n), place / len(ordered)), (float(n), (place + 1) / len(ordered))]
    stairs.append((float(most), stairs[-1][1]))
    y = Axis(label="share that meets the target", low=0, high=1, ticks=(0, 0.25, 0.5, 0.75, 1), percent=True)
    title = "Share of configurations for which so many runs are enough"
    x = _runs_axis(LEAST, most)
    return line_chart.draw(title, x, y, [Line(points=stairs, kind="c1")], marks=[Mark(at=runs, text=f"n = {runs:,}")])


def _runs_axis(low: int, high: int) -> Axis:
    factors = (1, 2, 5) if high / low < 200 else (1, 3)
    ticks = sorted({float(low), float(high), *line_chart.powers(low, high, factors)})
    spaced = [one for one in ticks if one in (low, high) or (one / low > 1.25 and high / one > 1.25)]
    return Axis(label="runs n", low=low, high=high, ticks=spaced, logarithmic=True)
