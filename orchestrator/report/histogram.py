"""A configuration's sample as a histogram, with its fitted density and the components of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from analysis.mixture import Selection
from orchestrator.contracts.metrics import THROUGHPUT, Metric
from orchestrator.report import svg, units
from orchestrator.report.svg import Area, element

Array = NDArray[np.float64]
WIDTH, HEIGHT = 760.0, 320.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 744.0, 30.0, 268.0
CURVE_POINTS = 400
TAIL = 0.02
"""Beyond this quantile on either side a sample's tail may be cut off, unless it holds a density mode."""


def draw(sample: Sequence[float], selection: Selection, title: str, metric: Metric = THROUGHPUT) -> Markup:
    """An inline SVG picture; `sample` in the metric's unit. Heights are runs per bin, the density scaled to them."""
    values = np.asarray(sample, dtype=np.float64)
    unit = units.fitting(max(mode.position for mode in selection.modes), metric.unit)
    low, high = view(values, selection)
    edges = np.linspace(low, high, bin_count(len(values)) + 1)
    counts, _ = np.histogram(values, edges)
    places = curve_places(low, high, selection)
    runs_per_density = len(values) * (edges[1] - edges[0])
    components = runs_per_density * selection.best.component_pdf(places)
    density = components.sum(axis=0)
    top = 1.12 * max(float(counts.max()), min(float(density.max()), 2.0 * float(counts.max())))
    area = Area(left=LEFT, right=RIGHT, top=TOP, bottom=BOTTOM, x_low=low, x_high=high, y_high=top)
    return element(
        "svg",
        element("title", title),
        _y_axis(area),
        _bars(area, edges, counts),
        *(_component(area, places, heights, number) for number, heights in enumerate(components)),
        svg.path(_curve(area, places, density), class_="density"),
        *(_peak(area, mode.position, unit) for mode in selection.modes),
        _x_axis(area, unit, metric),
        _beyond(values, low, high),
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
    )


def sketch(sample: Sequence[float], selection: Selection, title: str, metric: Metric = THROUGHPUT) -> Markup:
    """The sample alone, in a small picture: bars and axes, no fit."""
    values = np.asarray(sample, dtype=np.float64)
    unit = units.fitting(max(mode.position for mode in selection.modes), metric.unit)
    low, high = view(values, selection)
    edges = np.linspace(low, high, bin_count(len(values)) + 1)
    counts, _ = np.histogram(values, edges)
    area = Area(left=46, right=352, top=10, bottom=166, x_low=low, x_high=high, y_high=1.08 * float(counts.max()))
    axes = (_y_axis(area, wanted=3), _bars(area, edges, counts), _x_axis(area, unit, metric, wanted=4))
    return element("svg", element("title", title), *axes, viewBox="0 0 360 212", role="img")


def bin_count(n: int) -> int:
    """Twice the square root of n, within bounds: narrow peaks that stand close do not fall into one bin."""
    return min(60, max(12, round(2 * math.sqrt(n))))


def curve_places(low: float, high: float, selection: Selection) -> Array:
    """Where to evaluate a density that is drawn from `low` to `high`: evenly, and at the top of every density mode."""
    return np.unique(np.concatenate([np.linspace(low, high, CURVE_POINTS), [m.position for m in selection.modes]]))


def view(values: Array, selection: Selection) -> tuple[float, float]:
    """From which value to which: every density mode, and all of the sample but a far tail."""
    positions = [mode.position for mode in selection.modes]
    low = min(float(np.quantile(values, TAIL)), *positions)
    high = max(float(np.quantile(values, 1 - TAIL)), *positions)
    margin = 0.3 * (high - low) or 0.05 * abs(high) or 1.0
    low, high = max(low - margin, float(values.min())), min(high + margin, float(values.max()))
    spare = 0.07 * (high - low) or margin
    return low - spare, high + spare


def _bars(area: Area, edges: Array, counts: NDArray[np.int64]) -> Markup:
    bars = (
        element(
            "rect",
            x=area.x(float(left)) + 0.5,
            y=area.y(float(count)),
            width=max(area.x(float(right)) - area.x(float(left)) - 1.0, 0.5),
            height=area.bottom - area.y(float(count)),
        )
        for left, right, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    )
    return element("g", *bars, class_="bars")


def _curve(area: Area, places: Array, heights: Array) -> list[tuple[float, float]]:
    return [(area.x(float(x)), max(area.y(float(y)), area.top - 12)) for x, y in zip(places, heights, strict=True)]


def _component(area: Area, places: Array, heights: Array, number: int) -> Markup:
    ends = [(area.right, area.bottom), (area.left, area.bottom)]
    return svg.path([*_curve(area, places, heights), *ends], closed=True, class_=f"component c{number + 1}")


def _peak(area: Area, position: float, unit: units.Unit) -> Markup:
    x = area.x(position)
    line = element("line", x1=x, x2=x, y1=area.top - 8, y2=area.bottom)
    return element("g", line, element("text", unit.told(position), x=x, y=area.top - 13), class_="peak")


def _x_axis(area: Area, unit: units.Unit, metric: Metric, wanted: int = units.TICKS) -> Markup:
    marks, decimals = units.ticks(area.x_low / unit.kbps, area.x_high / unit.kbps, wanted)
    drawn = [
        part
        for mark in marks
        for part in (
            element(
                "line", x1=area.x(mark * unit.kbps), x2=area.x(mark * unit.kbps), y1=area.bottom, y2=area.bottom + 5
            ),
            element("text", f"{mark:,.{decimals}f}", x=area.x(mark * unit.kbps), y=area.bottom + 19),
        )
    ]
    base = element("line", x1=area.left, x2=area.right, y1=area.bottom, y2=area.bottom)
    middle = (area.left + area.right) / 2
    label = element("text", metric.label_in(unit.name), x=middle, y=area.bottom + 40, class_="label")
    return element("g", base, *drawn, label, class_="axis x")


def _y_axis(area: Area, wanted: int = 5) -> Markup:
    marks = [mark for mark in units.ticks(0, area.y_high, wanted)[0] if mark == int(mark)]
    drawn = [
        part
        for mark in marks
        for part in (
            element("line", x1=area.left, x2=area.right, y1=area.y(mark), y2=area.y(mark), class_="grid"),
            element("text", f"{mark:,.0f}", x=area.left - 8, y=area.y(mark) + 4),
        )
    ]
    middle = (area.top + area.bottom) / 2
    turned = f"rotate(-90 14 {middle:g})"
    label = element("text", "runs per bin", x=14, y=middle, transform=turned, class_="label")
    return element("g", *drawn, label, class_="axis y")


def _beyond(values: Array, low: float, high: float) -> Markup:
    """A picture that leaves runs out says so."""
    left_out = int(np.sum((values < low) | (values > high)))
    if not left_out:
        return Markup()
    noun = "run lies" if left_out == 1 else "runs lie"
    return element("text", f"{left_out} {noun} beyond the axis", x=RIGHT, y=HEIGHT - 12, class_="beyond")
