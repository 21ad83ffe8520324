"""The numbers behind a configuration's charts, in the unit that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from analysis import sample_size
from analysis.arrays import Array
from analysis.mixture import Options, Selection
from orchestrator.contracts.findings import ConfigurationPage, MeasuredRun
from orchestrator.contracts.metrics import Metric
from orchestrator.report import units
from orchestrator.report.histogram import bin_count, curve_places, view

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""The outer two are those of the default target."""
SIZES = 2.0 ** np.arange(-3, 7)
"""Sample sizes of the chart of standard errors, as multiples of the one there is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One run that has a value."""

    id: UUID
    value: float
    node: str
    replicate: int
    started_at: float
    counts: bool
    """Whether it is in the sample; a superseded run is not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Component:
    """One component of the best fit."""

    weight: float
    median: float
    heights: list[float]
    """Runs per bin, at `Shape.places`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A sample as a histogram, with what was fitted to it."""

    edges: list[float]
    counts: list[int]
    places: list[float]
    density: list[float]
    """Of the best fit, scaled to runs per bin."""
    components: list[Component]
    cumulative: list[float]
    """Distribution function of the best fit, at `places`."""
    peaks: list[float]
    """Positions of the density modes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QuantileError:
    """How well a quantile is known, by the delta method, given the selected model."""

    q: float
    value: float
    standard_error: float
    """At the size there is."""
    by_size: list[float]
    """At `Curves.sizes`: it falls with the square root of the number of independent runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Enough:
    """The sample size for the default target: standard errors of x_0.1 and x_0.9 at most 0.05 (x_0.9 - x_0.1)."""

    n: int
    met: bool
    """Whether `n` is enough; if not, the target is not within `max_n`."""
    max_n: int
    standard_error: float
    """The largest that is allowed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Curves:
    """All of a configuration's charts. Values are in `unit`."""

    metric: str
    unit: str
    runs: list[Point]
    """In order of start."""
    shape: Shape | None
    """None until there is a fit."""
    sizes: list[int]
    quantiles: list[QuantileError]
    no_errors: str | None
    """Why there are no standard errors."""
    enough: Enough | None
    """None until there is a fit."""


def of(page: ConfigurationPage, metric: Metric) -> Curves:
    """What the charts of this configuration draw."""
    measured = [run for run in page.runs if run.value is not None]
    selection = None if page.selection is None else Selection.from_dict(page.selection)
    unit = fitting_unit(page, metric)
    sample = np.array(sample_of(page))
    enough = None if selection is None else _enough(selection, sample, unit)
    tried = [] if selection is None or enough is None else _sizes(selection.n, enough.n)
    found, problem = _errors(selection, tried, unit)
    return Curves(
        metric=metric.name,
        unit=unit.name,
        runs=[_point(run, run.value / unit.kbps) for run in measured if run.value is not None],
        shape=None if selection is None else _shape(sample, selection, unit),
        sizes=tried,
        quantiles=found,
        no_errors=problem,
        enough=enough,
    )


def sample_of(page: ConfigurationPage) -> tuple[float, ...]:
    """The values that count, in order of start."""
    return tuple(run.value for run in page.runs if run.counts and run.value is not None)


def fitting_unit(page: ConfigurationPage, metric: Metric) -> units.Unit:
    """The unit that fits the largest value; the metric's own where that is no throughput."""
    return units.fitting(max((run.value for run in page.runs if run.value is not None), default=0.0), metric.unit)


def _point(run: MeasuredRun, value: float) -> Point:
    return Point(
        id=run.id, value=value, node=run.node, replicate=run.replicate, started_at=run.started_at, counts=run.counts
    )


def _shape(sample: Array, selection: Selection, unit: units.Unit) -> Shape:
    low, high = view(sample, selection)
    edges = np.linspace(low, high, bin_count(len(sample)) + 1)
    counts, _ = np.histogram(sample, edges)
    places = curve_places(low, high, selection)
    heights = len(sample) * (edges[1] - edges[0]) * selection.best.component_pdf(places)
    medians = selection.best.component_quantiles(0.5)
    return Shape(
        edges=(edges / unit.kbps).tolist(),
        counts=counts.tolist(),
        places=(places / unit.kbps).tolist(),
        density=heights.sum(axis=0).tolist(),
        components=[
            Component(weight=weight, median=float(median) / unit.kbps, heights=row.tolist())
            for weight, median, row in zip(selection.best.weights, medians, heights, strict=True)
        ],
        cumulative=selection.cdf(places).tolist(),
        peaks=[mode.position / unit.kbps for mode in selection.modes],
    )


def _sizes(n: int, enough: int) -> list[int]:
    sizes = np.maximum(np.rint(n * SIZES), 10).astype(np.int64)
    return sorted({*sizes.tolist(), enough})


def _enough(selection: Selection, sample: Array, unit: units.Unit) -> Enough:
    target, centre = sample_size.Target(), sample_size.centre_of_sample(sample)
    need = sample_size.need(sample_size.Candidates.of(selection, Options()), target, centre, sample)
    low, high = (selection.quantile(q) for q in target.quantiles)
    allowed = target.share * (high - low) / unit.kbps
    return Enough(n=need.n, met=need.met, max_n=target.max_n, standard_error=allowed)


def _errors(
    selection: Selection | None, sizes: Sequence[int], unit: units.Unit
) -> tuple[list[QuantileError], str | None]:
    if selection is None:
        return [], "there is no fit"
    known = [sample_size.of_fit(selection.best, q) for q in QUANTILES]
    if refused := next((one.refused for one in known if one.refused is not None), None):
        return [], refused
    return [_error(one, selection.n, sizes, unit) for one in known], None


def _error(known: sample_size.Precision, n: int, sizes: Sequence[int], unit: units.Unit) -> QuantileError:
    here, *by_size = (error / unit.kbps for size in (n, *sizes) if (error := known.error(size)) is not None)
    return QuantileError(q=known.q, value=known.value / unit.kbps, standard_error=here, by_size=by_size)
