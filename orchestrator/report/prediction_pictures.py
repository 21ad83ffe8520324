"""Pictures of how good predictions are, of jobs and of configurations, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from analysis.arrays import Array
from orchestrator.report.svg import element, path

WIDTH = 640.0
ROW = 22.0
LEFT = 270.0  # for labels
POINTS = 1200  # of a scatter plot


@dataclass(frozen=True, kw_only=True, slots=True)
class Errors:
    """The axis of violins: from where to where, and its marks; a strong line stands where there is no error."""

    low: float
    high: float
    marks: Mapping[float, str]
    none: float = 0.0


RATIOS = Errors(
    low=-math.log(3), high=math.log(3), marks={math.log(one): f"{one:.2g}" for one in (1 / 3, 0.5, 1.0, 2.0, 3.0)}
)
"""Of log(predicted / measured): a third to three times."""
DISTANCES = Errors(low=0.0, high=1.0, marks={fifth / 5: f"{fifth / 5:.1f}" for fifth in range(6)})
"""Of distances of Kolmogorov and Smirnov."""


def scatter(measured: Array, predicted: Array, *, unit: str, label: str) -> Markup:
    """Predicted over measured throughput, both logarithmic, with the line where they are equal."""
    size, pad = 360.0, 56.0
    every = max(1, math.ceil(len(measured) / POINTS))
    x, y = np.log10(measured[::every]), np.log10(predicted[::every])
    low, high = float(min(x.min(), y.min())) - 0.05, float(max(x.max(), y.max())) + 0.05

    def place(value: float) -> float:
        return (value - low) / (high - low) * (size - pad - 26)

    marks = [
        element("circle", cx=left, cy=top, r=1.8, class_="c1", fill_opacity="0.45", stroke="none")
        for left, top in ((pad + place(a), size - pad - place(b)) for a, b in zip(x, y, strict=True))
    ]
    axes = [
        element("text", f"measured, {unit}", x=(size + pad) / 2, y=size - 8, text_anchor="middle"),
        element("text", f"predicted, {unit}", x=6, y=12),
    ]
    for value in _marks(low, high):
        at = place(math.log10(value))
        axes.append(element("text", _told(value), x=pad + at, y=size - pad + 15, text_anchor="middle"))
        axes.append(element("text", _told(value), x=pad - 5, y=size - pad - at + 4, text_anchor="end"))
    ends = ((pad, size - pad), (pad + place(high), size - pad - place(high)))
    equal = path(ends, stroke="currentColor", fill="none", stroke_opacity="0.5")
    return picture(size, size, label, *axes, equal, *marks)


def violins(errors: Mapping[str, Array], axis: Errors, *, label: str) -> Markup:
    """The distribution of errors, a row each, with its median."""
    from scipy.stats import gaussian_kde  # a second that the pages do without

    height = ROW * 1.4
    wide = WIDTH - LEFT - 20
    grid = np.linspace(axis.low, axis.high, 120)

    def across(value: float) -> float:
        return LEFT + (value - axis.low) / (axis.high - axis.low) * wide

    parts: list[Markup] = []
    for row, (name, found) in enumerate(errors.items()):
        middle = height * (row + 0.5)
        parts.append(element("text", name, x=LEFT - 8, y=middle + 4, text_anchor="end"))
        if len(found) > 2 and np.ptp(found) > 0:
            density = gaussian_kde(found)(grid)
            half = density / density.max() * height * 0.45
            outline = [(across(g), middle - h) for g, h in zip(grid, half, strict=True)]
            below = [(across(g), middle + h) for g, h in zip(grid[::-1], half[::-1], strict=True)]
            parts.append(path([*outline, *below], closed=True, class_="c1", fill_opacity="0.35"))
            parts.append(_tick(across(float(np.clip(np.median(found), grid[0], grid[-1]))), middle, height * 0.3))
    bottom = height * len(errors)
    for value, text in axis.marks.items():
        x = across(value)
        strength = "0.5" if value == axis.none else "0.15"
        parts.append(path(((x, 0), (x, bottom)), stroke="currentColor", stroke_opacity=strength))
        parts.append(element("text", text, x=x, y=bottom + 14, text_anchor="middle"))
    return picture(WIDTH, bottom + 22, label, *parts)


def bars(values: Mapping[str, float], *, label: str, digits: int = 3) -> Markup:
    """A bar a row, from 0; negative ones to the left."""
    reach = max((abs(value) for value in values.values()), default=1.0) or 1.0
    low = -reach if any(value < 0 for value in values.values()) else 0.0
    wide = WIDTH - LEFT - 60
    zero = LEFT + (0 - low) / (reach - low) * wide
    parts: list[Markup] = []
    for row, (name, value) in enumerate(values.items()):
        y = ROW * row
        length = abs(value) / (reach - low) * wide
        parts.append(element("text", name, x=LEFT - 8, y=y + 15, text_anchor="end"))
        start = zero - length if value < 0 else zero
        parts.append(element("rect", x=start, y=y + 4, width=max(length, 0.5), height=ROW - 8, class_="c1"))
        parts.append(element("text", f"{value:z.{digits}f}", x=max(zero, start + length) + 5, y=y + 15))
    return picture(WIDTH, ROW * len(values) + 4, label, *parts)


def picture(width: float, height: float, label: str, *parts: Markup) -> Markup:
    """The parts as one picture; `label` is what a screen reader says of it."""
    return element(
        "svg", *parts, viewBox=f"0 0 {width:.0f} {height:.0f}", width=width, role="img", aria_label=label,
        font_size="11", fill="currentColor", style="max-width:100%;height:auto",
    )  # fmt: skip


def _marks(low: float, high: float) -> list[float]:
    """1, 10, 100, ... between two logarithms; with 2 and 5 of each where these are few; else what lies between."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    found: list[float] = []
    for digits in ((1,), (1, 2, 5)):
        found = [
            digit * 10.0**one for one in powers for digit in digits if low <= math.log10(digit * 10.0**one) <= high
        ]
        if len(found) > 2:
            return found
    return found if len(found) > 1 else [float(f"{10**one:.3g}") for one in np.linspace(low, high, 5)[1:-1]]


def _told(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


def _tick(x: float, middle: float, half: float) -> Markup:
    return path(((x, middle - half), (x, middle + half)), stroke="currentColor", stroke_width="2")
