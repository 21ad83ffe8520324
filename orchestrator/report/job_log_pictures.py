"""Pictures of jobs and their logs, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from analysis.arrays import Array
from orchestrator.report.prediction_pictures import WIDTH, picture
from orchestrator.report.svg import element, path

COLUMNS = 160  # of a heat map
SERIES = 5  # colours of the style sheet


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
    return picture(WIDTH, height + top + bottom, label, *parts)


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
    return picture(WIDTH, height + 34, label, *parts)
