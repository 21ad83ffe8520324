"""The picture of a design as SVG: small multiples over a third factor, darker where a cell has more configurations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from orchestrator import words
from orchestrator.contracts.designs import Design, Level
from orchestrator.design import picture
from orchestrator.design.picture import MAX_COLUMNS, MAX_PANELS, MAX_ROWS, Panel, Picture
from orchestrator.report.svg import element

CELL = 16.0
LABEL = 7.0
"""Width of a character of a label, about."""
TOP = 44.0


def draw(design: Design) -> Markup | None:
    """Figures, one a pattern; None where there is nothing, or too much, to draw."""
    found = picture.of(design)
    if found is None:
        return None
    more = len(found.panels) - MAX_PANELS
    return Markup("").join(
        [
            *(_figure(found, panel) for panel in found.panels[:MAX_PANELS]),
            element("p", f"… and {more} more patterns over {found.third}", class_="soft") if more > 0 else "",
        ]
    )


def _figure(found: Picture, panel: Panel) -> Markup:
    rows, columns = found.levels[found.rows][:MAX_ROWS], found.levels[found.columns][:MAX_COLUMNS]
    left = LABEL * max(len(picture.label(found.rows, row)) for row in rows) + 8
    alike = ", ".join(picture.label(found.third, level) for level in panel.alike)
    heading = f"{found.third} {alike}" if panel.alike and len(found.panels) > 1 else f"{found.rows} × {found.columns}"
    width, height = left + CELL * len(columns) + 12, TOP + CELL * len(rows) + 2
    drawing = element(
        "svg",
        element("title", f"{heading}: {words.counted(sum(panel.cells.values()), 'configuration')}"),
        *_labels(found, rows, columns, left),
        *_cells(found, panel, rows, columns, left),
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
    )
    return element("figure", element("figcaption", heading), drawing, class_="design")


def _labels(found: Picture, rows: Sequence[Level], columns: Sequence[Level], left: float) -> Iterator[Markup]:
    for place, row in enumerate(rows):
        y = TOP + CELL * (place + 0.75)
        yield element("text", picture.label(found.rows, row), x=left - 6, y=y, text_anchor="end")
    for place, column in enumerate(columns):
        x = left + CELL * (place + 0.7)
        turned = f"rotate(-60 {x:.1f} {TOP - 6:g})"
        yield element("text", picture.label(found.columns, column), x=x, y=TOP - 6, transform=turned)


def _cells(
    found: Picture, panel: Panel, rows: Sequence[Level], columns: Sequence[Level], left: float
) -> Iterator[Markup]:
    for down, row in enumerate(rows):
        for across, column in enumerate(columns):
            count = panel.cells[row, column]
            what = f"{found.rows} {row}, {found.columns} {column}: {words.counted(count, 'configuration')}"
            yield element(
                "rect",
                element("title", what),
                x=left + CELL * across,
                y=TOP + CELL * down,
                width=CELL - 2,
                height=CELL - 2,
                rx=2.0,
                class_="some" if count else "none",
                fill_opacity=f"{0.25 + 0.75 * count / found.fullest:.2f}" if count else "1",
            )
