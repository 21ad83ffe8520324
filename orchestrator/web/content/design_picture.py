"""The picture of a design as SVG: small multiples over a third factor, darker where a cell has more configurations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from orchestrator import words
from orchestrator.contracts.designs import Design, Level
from orchestrator.design import picture
from orchestrator.design.picture import MAX_COLUMNS, MAX_PANELS, MAX_ROWS, Panel, Picture
from orchestrator.report.svg import element

LARGE, SMALL = 26.0, 16.0
FEW = 8
"""So many columns and rows are drawn large."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Grid:
    """Where the levels of two factors lie."""

    found: Picture
    rows: Sequence[Level]
    columns: Sequence[Level]
    cell: float
    """Width and height of a cell, with its gap."""
    left: float

    @classmethod
    def of(cls, found: Picture) -> _Grid:
        rows, columns = found.levels[found.rows][:MAX_ROWS], found.levels[found.columns][:MAX_COLUMNS]
        left = LABEL * max(len(picture.label(found.rows, row)) for row in rows) + 8
        cell = LARGE if max(len(rows), len(columns)) <= FEW else SMALL
        return cls(found=found, rows=rows, columns=columns, cell=cell, left=left)

    def labels(self) -> Iterator[Markup]:
        for place, row in enumerate(self.rows):
            y = TOP + self.cell * (place + 0.7)
            yield element("text", picture.label(self.found.rows, row), x=self.left - 6, y=y, text_anchor="end")
        for place, column in enumerate(self.columns):
            x = self.left + self.cell * (place + 0.6)
            turned = f"rotate(-60 {x:.1f} {TOP - 6:g})"
            yield element("text", picture.label(self.found.columns, column), x=x, y=TOP - 6, transform=turned)

    def cells(self, panel: Panel) -> Iterator[Markup]:
        for down, row in enumerate(self.rows):
            for across, column in enumerate(self.columns):
                count = panel.cells[row, column]
                what = f"{self.found.rows} {row}, {self.found.columns} {column}"
                yield element(
                    "rect",
                    element("title", f"{what}: {words.counted(count, 'configuration')}"),
                    x=self.left + self.cell * across,
                    y=TOP + self.cell * down,
                    width=self.cell - 2,
                    height=self.cell - 2,
                    rx=2.0,
                    class_="some" if count else "none",
                    fill_opacity=f"{0.25 + 0.75 * count / self.found.fullest:.2f}" if count else "1",
                )


def _figure(found: Picture, panel: Panel) -> Markup:
    grid = _Grid.of(found)
    alike = ", ".join(picture.label(found.third, level) for level in panel.alike)
    heading = f"{found.third} {alike}" if panel.alike and len(found.panels) > 1 else f"{found.rows} × {found.columns}"
    width, height = grid.left + grid.cell * len(grid.columns) + 12, TOP + grid.cell * len(grid.rows) + 2
    drawing = element(
        "svg",
        element("title", f"{heading}: {words.counted(sum(panel.cells.values()), 'configuration')}"),
        *grid.labels(),
        *grid.cells(panel),
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
    )
    return element("figure", element("figcaption", heading), drawing, class_="design")
