"""The numbers behind a configuration's charts, in the unit that fits."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import numpy as np

from analysis.arrays import Array
from analysis.errors import NoStandardErrorError
from analysis.mixture import Fit, Selection
from orchestrator.contracts.findings import ConfigurationPage, MeasuredRun
from orchestrator.contracts.metrics import Metric
from orchestrator.contracts.runs import Validity
from orchestrator.report import units
from orchestrator.report.histogram import bin_count, curve_places, view

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
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


def of(page: ConfigurationPage, metric: Metric) -> Curves:
    """What the charts of this configuration draw."""
    measured = [run for run in page.runs if run.value is not None]
    selection = None if page.selection is None else Selection.from_dict(page.selection)
    unit = fitting_unit(page, metric)
    sample = np.array(sample_of(page))
    found, problem = _errors(selection, unit)
    return Curves(
        metric=metric.name,
        unit=unit.name,
        runs=[_point(run, run.value / unit.kbps) for run in measured if run.value is not None],
        shape=None if selection is None else _shape(sample, selection, unit),
        sizes=[] if selection is None else _sizes(selection.n).tolist(),
        quantiles=found,
        no_errors=problem,
    )


def sample_of(page: ConfigurationPage) -> tuple[float, ...]:
    """The values that count, in order of start."""
    return tuple(run.value for run in page.runs if run.validity == Validity.VALID and run.value is not None)


def fitting_unit(page: ConfigurationPage, metric: Metric) -> units.Unit:
    """The unit that fits the largest value; the metric's own where that is no throughput."""
    return units.fitting(max((run.value for run in page.runs if run.value is not None), default=0.0), metric.unit)


def _point(run: MeasuredRun, value: float) -> Point:
    counts = run.validity == Validity.VALID
    return Point(
        id=run.id, value=value, node=run.node, replicate=run.replicate, started_at=run.started_at, counts=counts
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


def _sizes(n: int) -> Array:
    sizes: Array = np.unique(np.maximum(np.rint(n * SIZES), 10)).astype(np.int64)
    return sizes


def _errors(selection: Selection | None, unit: units.Unit) -> tuple[list[QuantileError], str | None]:
    if selection is None:
        return [], "there is no fit"
    try:
        return [_error(selection.best, q, unit) for q in QUANTILES], None
    except NoStandardErrorError as problem:
        return [], str(problem)


def _error(fit: Fit, q: float, unit: units.Unit) -> QuantileError:
    error = fit.quantile_se(q) / unit.kbps
    by_size = error * np.sqrt(fit.n / _sizes(fit.n))
    return QuantileError(q=q, value=fit.quantile(q) / unit.kbps, standard_error=error, by_size=by_size.tolist())
