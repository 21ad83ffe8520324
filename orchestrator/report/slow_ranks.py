"""The slow ranks over time, as a picture: one row a rank, one column a collective."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from analysis.arrays import Flags
from orchestrator.report.svg import element

WIDTH, HEIGHT = 900.0, 420.0
LEFT, TOP, RIGHT, BOTTOM = 70.0, 34.0, 20.0, 48.0
MOST_COLUMNS, MOST_ROWS = 300, 150


def picture(slow: Flags, ranks: Sequence[str], title: str) -> Markup:
    """An SVG of (K, R) flags; where there are more than fit, a cell is as dark as the share of slow ones in it."""
    cells = _coarse(slow)
    columns, rows = cells.shape
    width, height = (WIDTH - LEFT - RIGHT) / columns, (HEIGHT - TOP - BOTTOM) / rows
    marks = [
        element(
            "rect",
            x=f"{LEFT + column * width:.2f}",
            y=f"{TOP + row * height:.2f}",
            width=f"{width + 0.05:.2f}",
            height=f"{height + 0.05:.2f}",
            fill_opacity=f"{cells[column, row]:.2f}",
        )
        for column, row in np.argwhere(cells > 0).tolist()
    ]
    return element(
        "svg",
        element("title", title),
        element("text", title, x=LEFT, y=20, font_weight="bold"),
        element("rect", x=LEFT, y=TOP, width=WIDTH - LEFT - RIGHT, height=HEIGHT - TOP - BOTTOM, class_="frame"),
        element("g", *marks, class_="slow"),
        *_labels(slow, ranks),
        element("style", Markup(STYLE)),  # noqa: S704 - our own text
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        font_family="sans-serif",
        font_size="12",
    )


STYLE = (
    "svg{background:#fff}text{fill:#222}.frame{fill:#f3f4f6}.slow{fill:#b3261e}"
    "@media (prefers-color-scheme:dark){svg{background:#16181c}text{fill:#e6e6e6}"
    ".frame{fill:#24272d}.slow{fill:#ff8a80}}"
)


def page(svg: Markup, title: str) -> str:
    """The picture as a page of its own."""
    shown = Markup(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{}</title></head><body>{}</body></html>'
    )
    return str(shown.format(title, svg)) + "\n"


def _coarse(slow: Flags) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """(columns, rows) the share of flags in each cell."""
    columns = np.array_split(np.arange(slow.shape[0]), min(slow.shape[0], MOST_COLUMNS))
    by_column = np.stack([np.mean(slow[part], axis=0) for part in columns])
    rows = np.array_split(np.arange(slow.shape[1]), min(slow.shape[1], MOST_ROWS))
    return np.stack([np.mean(by_column[:, part], axis=1) for part in rows], axis=1)


def _labels(slow: Flags, ranks: Sequence[str]) -> list[Markup]:
    bottom = HEIGHT - BOTTOM
    return [
        element("text", ranks[0], x=LEFT - 6, y=TOP + 10, text_anchor="end"),
        element("text", ranks[-1], x=LEFT - 6, y=bottom, text_anchor="end"),
        element("text", "rank", x=LEFT - 6, y=(TOP + bottom) / 2, text_anchor="end"),
        element("text", "1", x=LEFT, y=bottom + 16),
        element("text", f"{len(slow):,}", x=WIDTH - RIGHT, y=bottom + 16, text_anchor="end"),
        element("text", "collective, in the order of time", x=(LEFT + WIDTH) / 2, y=bottom + 34, text_anchor="middle"),
    ]
