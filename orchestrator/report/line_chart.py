"""A small chart of lines and bands over a logarithmic axis, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from orchestrator.report import svg
from orchestrator.report.svg import Area, element

WIDTH, HEIGHT = 440.0, 290.0
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """From which value to which, and where it is labelled."""

    label: str
    low: float
    high: float
    ticks: Sequence[float]
    logarithmic: bool = False
    percent: bool = False
    """Values are shares, told in percent."""

    def place(self, value: float) -> float:
        """0 at `low`, 1 at `high`; held inside."""
        low, high, at = (math.log(one) if self.logarithmic else one for one in (self.low, self.high, value))
        return min(max((at - low) / (high - low), 0.0), 1.0)

    def told(self, value: float) -> str:
        """A tick's text."""
        return f"{100 * value:g} %" if self.percent else f"{value:,.0f}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line, with a band around it where there is one."""

    points: Points
    kind: str
    """Class in the style sheet: `c1`, `c2`."""
    low: Points = ()
    high: Points = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A place on the lower axis that is named, with the interval around it where there is one."""

    at: float
    text: str
    low: float | None = None
    high: float | None = None
    kind: str = "peak"
    """Class in the style sheet: `peak`, `here`."""


def powers(low: float, high: float, factors: Sequence[int] = (1, 2, 5)) -> list[float]:
    """Round numbers from `low` to `high`: 1, 2, 5, 10, ..."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    found = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
    return [one for one in found if low * 0.999 <= one <= high * 1.001]


def draw(
    title: str, x: Axis, y: Axis, lines: Sequence[Line], *, marks: Sequence[Mark] = (), level: float | None = None
) -> Markup:
    """The chart; `title` is what a screen reader says of it, `level` a value that is drawn across."""
    area = Area(left=66, right=424, top=36, bottom=232, x_low=0, x_high=1, y_high=1)

    def placed(points: Points) -> list[tuple[float, float]]:
        return [(area.x(x.place(at)), area.y(y.place(value))) for at, value in points]

    return element(
        "svg",
        element("title", title),
        _y_axis(area, y),
        _x_axis(area, x),
        *(
            svg.path([*placed(one.low), *reversed(placed(one.high))], closed=True, class_=f"band {one.kind}")
            for one in lines
            if one.low
        ),
        *(svg.path(placed(one.points), class_=f"line {one.kind}") for one in lines),
        *([] if level is None else [_level(area, area.y(y.place(level)))]),
        *(_mark(area, x, one, row) for row, one in enumerate(marks)),
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
    )


def _x_axis(area: Area, axis: Axis) -> Markup:
    drawn = []
    for tick in axis.ticks:
        x = area.x(axis.place(tick))
        drawn += [element("line", x1=x, x2=x, y1=area.bottom, y2=area.bottom + 5)]
        drawn += [element("text", axis.told(tick), x=x, y=area.bottom + 19)]
    base = element("line", x1=area.left, x2=area.right, y1=area.bottom, y2=area.bottom)
    middle = (area.left + area.right) / 2
    label = element("text", axis.label, x=middle, y=area.bottom + 42, class_="label")
    return element("g", base, *drawn, label, class_="axis x")


def _y_axis(area: Area, axis: Axis) -> Markup:
    drawn = []
    for tick in axis.ticks:
        y = area.y(axis.place(tick))
        drawn += [element("line", x1=area.left, x2=area.right, y1=y, y2=y, class_="grid")]
        drawn += [element("text", axis.told(tick), x=area.left - 8, y=y + 4)]
    middle = (area.top + area.bottom) / 2
    label = element("text", axis.label, x=12, y=middle, transform=f"rotate(-90 12 {middle:g})", class_="label")
    return element("g", *drawn, label, class_="axis y")


def _level(area: Area, y: float) -> Markup:
    return element("line", x1=area.left, x2=area.right, y1=y, y2=y, class_="level")


def _mark(area: Area, axis: Axis, mark: Mark, row: int) -> Markup:
    """A dotted line with its name above it; names stand in rows of their own."""
    x = area.x(axis.place(mark.at))
    parts = []
    if mark.low is not None and mark.high is not None:
        left, right = (area.x(axis.place(end)) for end in (mark.low, mark.high))
        parts += [element("rect", x=left, y=area.top, width=max(right - left, 1.0), height=area.bottom - area.top)]
    parts += [element("line", x1=x, x2=x, y1=area.top - 4, y2=area.bottom)]
    parts += [element("text", mark.text, x=x, y=area.top - 9 - 13 * row)]
    return element("g", *parts, class_=mark.kind)
