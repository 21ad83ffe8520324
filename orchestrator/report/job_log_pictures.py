"""Pictures of predictions from logs, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from analysis.arrays import Array
from orchestrator.report.svg import element, path

WIDTH = 640.0
ROW = 22.0
LEFT = 270.0  # for labels
POINTS = 1200  # of a scatter plot
COLUMNS = 160  # of a heat map
RATIO = 3.0  # violins reach from a third to three times
SERIES = 5  # colours of the style sheet


def scatter(measured: Array, predicted: Array, *, label: str) -> Markup:
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
        element("text", "measured, MiB/s", x=(size + pad) / 2, y=size - 8, text_anchor="middle"),
        element("text", "predicted, MiB/s", x=6, y=12),
    ]
    for value in _decades(low, high):
        at = place(math.log10(value))
        axes.append(element("text", f"{value:,.0f}", x=pad + at, y=size - pad + 15, text_anchor="middle"))
        axes.append(element("text", f"{value:,.0f}", x=pad - 5, y=size - pad - at + 4, text_anchor="end"))
    ends = ((pad, size - pad), (pad + place(high), size - pad - place(high)))
    equal = path(ends, stroke="currentColor", fill="none", stroke_opacity="0.5")
    return _svg(size, size, label, *axes, equal, *marks)


def violins(errors: Mapping[str, Array], *, label: str) -> Markup:
    """The distribution of predicted / measured, a row each, logarithmic; the line is where they are equal."""
    from scipy.stats import gaussian_kde  # a second that the pages do without

    height = ROW * 1.4
    wide = WIDTH - LEFT - 20
    grid = np.linspace(-math.log(RATIO), math.log(RATIO), 120)

    def across(value: float) -> float:
        return LEFT + (value + math.log(RATIO)) / (2 * math.log(RATIO)) * wide

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
    for ratio in (1 / RATIO, 0.5, 1.0, 2.0, RATIO):
        x = across(math.log(ratio))
        parts.append(path(((x, 0), (x, bottom)), stroke="currentColor", stroke_opacity="0.5" if ratio == 1 else "0.15"))
        parts.append(element("text", f"{ratio:.2g}", x=x, y=bottom + 14, text_anchor="middle"))
    return _svg(WIDTH, bottom + 22, label, *parts)


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
        parts.append(element("text", f"{value:.{digits}f}", x=max(zero, start + length) + 5, y=y + 15))
    return _svg(WIDTH, ROW * len(values) + 4, label, *parts)


def profiles(names: Sequence[str], centres: Sequence[Sequence[float]], *, label: str) -> Markup:
    """A line a cluster over the features, each between 0 and 1 (the paper's Figure 6)."""
    height, top, bottom = 190.0, 10.0, 96.0
    step = (WIDTH - 70) / max(len(names) - 1, 1)
    parts = [
        element(
            "text", name, x=40 + step * place, y=height + top + 14, text_anchor="end",
            transform=f"rotate(-40 {40 + step * place:.1f} {height + top + 14:.1f})",
        )
        for place, name in enumerate(names)
    ]  # fmt: skip
    for number, centre in enumerate(centres):
        line = [(40 + step * place, top + height * (1 - value)) for place, value in enumerate(centre)]
        colour = f"var(--c{number % SERIES + 1})"
        parts.append(path(line, fill="none", stroke=colour, stroke_width="2"))
    parts += [
        element("text", f"{one:g}", x=30, y=top + height * (1 - one) + 4, text_anchor="end") for one in (0.0, 1.0)
    ]
    return _svg(WIDTH, height + top + bottom, label, *parts)


def heat_map(names: Sequence[str], values: Array, *, at_s: Array, from_s: float, to_s: float, label: str) -> Markup:
    """A row for each OST, a column for each time: how much was written (the paper's Figure 9).

    `values`: (t, OSTs), NaN where missing. Two lines mark the start and the end of the job.
    """
    every = max(1, math.ceil(len(at_s) / COLUMNS))
    groups = [slice(first, first + every) for first in range(0, len(at_s), every)]
    most = float(np.nanmax(values)) if np.any(np.isfinite(values)) else 1.0
    row, wide = 11.0, WIDTH - 140
    cell = wide / len(groups)
    parts = [
        element("text", name, x=112, y=row * (place + 1) - 2, text_anchor="end") for place, name in enumerate(names)
    ]
    for column, group in enumerate(groups):
        with np.errstate(all="ignore"):
            told = np.isfinite(values[group])
            mean = np.sum(np.where(told, values[group], 0.0), axis=0) / np.maximum(np.sum(told, axis=0), 1)
        for place in range(len(names)):
            share = float(mean[place]) / (most or 1.0)
            parts.append(
                element(
                    "rect", x=118 + cell * column, y=row * place, width=cell + 0.3, height=row - 1,
                    fill="var(--flag)", fill_opacity=f"{0.04 + 0.96 * share**0.5:.3f}",
                )
            )  # fmt: skip
    height = row * len(names)
    span = float(at_s[-1] - at_s[0]) or 1.0
    for when, word in ((from_s, "start"), (to_s, "end")):
        x = 118 + (when - float(at_s[0])) / span * wide
        parts.append(path(((x, 0), (x, height)), stroke="currentColor", stroke_width="1.5"))
        parts.append(element("text", word, x=x, y=height + 13, text_anchor="middle"))
    parts.append(element("text", f"darkest: {most / 2**20:,.0f} MiB/s", x=118, y=height + 28))
    return _svg(WIDTH, height + 34, label, *parts)


def _decades(low: float, high: float) -> list[float]:
    """1, 10, 100, ... between two logarithms; with 2 and 5 of each where these are few."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    found = [10.0**one for one in powers if low <= one <= high]
    if len(found) < 3:
        found = [digit * 10.0**one for one in powers for digit in (1, 2, 5)]
    return [value for value in found if low <= math.log10(value) <= high]


def _tick(x: float, middle: float, half: float) -> Markup:
    return path(((x, middle - half), (x, middle + half)), stroke="currentColor", stroke_width="2")


def _svg(width: float, height: float, label: str, *parts: Markup) -> Markup:
    return element(
        "svg", *parts, viewBox=f"0 0 {width:.0f} {height:.0f}", width=width, role="img", aria_label=label,
        font_size="11", fill="currentColor", style="max-width:100%;height:auto",
    )  # fmt: skip
