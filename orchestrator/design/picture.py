"""A picture of a design: which combinations of levels are covered, and how fully; and how a terminal shows it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.contracts.designs import Design, Level

SHADES = "·░▒▓█"
MAX_CONFIGURATIONS = 300_000
MAX_ROWS = 24
MAX_COLUMNS = 16
MAX_PANELS = 8
MAX_LABEL = 15

Configuration = Mapping[str, Level]
Cells = Counter[tuple[Level, Level]]
"""(level of the rows' factor, level of the columns' factor) -> configurations."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """One matrix, and the levels of the third factor that look like it."""

    alike: tuple[Level, ...]
    """Empty where there is no third factor."""
    cells: Cells


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """Which combinations of levels a design covers: a matrix of two factors for every pattern over a third."""

    rows: str
    columns: str
    third: str
    levels: Mapping[str, Sequence[Level]]
    """Factor -> its levels, in order; `mode` counts as a factor here."""
    panels: tuple[Panel, ...]
    fullest: int
    """Configurations in the fullest cell."""


def of(design: Design) -> Picture | None:
    """The picture of a design; None when it is empty or too large to be looked at cell by cell."""
    if not 0 < design.configuration_count <= MAX_CONFIGURATIONS:
        return None
    configurations = list(_configurations(design))
    levels = {factor: _levels(configurations, factor) for factor in (*design.factors, "mode")}
    rows, columns = _axes(levels)
    third, panels = _panels(configurations, levels, rows, columns)
    return Picture(
        rows=rows,
        columns=columns,
        third=third,
        levels=levels,
        panels=tuple(Panel(alike=tuple(alike), cells=cells) for alike, cells in panels),
        fullest=max(count for _, cells in panels for count in cells.values()),
    )


def draw(design: Design) -> list[str]:
    """The picture as lines: a shade says how many configurations a cell has, against the fullest one."""
    picture = of(design)
    if picture is None:
        return [f"(no picture of {design.configuration_count:,} configurations)"]
    lines = [f"rows {picture.rows}, columns {picture.columns}; {_legend(picture.fullest)}"]
    for panel in picture.panels[:MAX_PANELS]:
        if len(picture.panels) > 1:
            lines += ["", f"{picture.third} {', '.join(label(picture.third, level) for level in panel.alike)}"]
        lines += _matrix(panel.cells, picture)
    if len(picture.panels) > MAX_PANELS:
        lines += ["", f"... and {len(picture.panels) - MAX_PANELS} more patterns over {picture.third}"]
    return lines


def label(factor: str, level: Level) -> str:
    """A level as short as it can be read: `1.2GHz`, `16M`, `4k`."""
    if isinstance(level, int) and factor.endswith("_khz") and level >= 100_000:
        return f"{level / 1_000_000:g}GHz"
    if isinstance(level, int) and factor.endswith("_kb"):
        return f"{level // 1024}M" if level >= 1024 and level % 1024 == 0 else f"{level}k"
    shown = str(level)
    return shown if len(shown) <= MAX_LABEL else f"{shown[: MAX_LABEL - 1]}…"


def _configurations(design: Design) -> Iterator[Configuration]:
    for setting in design.settings:
        if setting.control is None:
            levels = dict(zip(design.factors, setting.levels, strict=True))
            for mode in setting.modes:
                yield {**levels, "mode": mode}


def _levels(configurations: Sequence[Configuration], factor: str) -> list[Level]:
    found = dict.fromkeys(configuration[factor] for configuration in configurations)
    if any(isinstance(level, str) for level in found):
        return list(found)
    return sorted(found, key=float)


def _axes(levels: Mapping[str, Sequence[Level]]) -> tuple[str, str]:
    """The two sizes, whose ratio is what usually limits a design; else the two factors with most levels."""
    sizes = ("file_size_kb", "record_size_kb")
    if all(len(levels.get(size, ())) > 1 for size in sizes):
        return sizes
    rows, columns = sorted(levels, key=lambda factor: -len(levels[factor]))[:2]
    return rows, columns


def _panels(
    configurations: Sequence[Configuration], levels: Mapping[str, Sequence[Level]], rows: str, columns: str
) -> tuple[str, list[tuple[list[Level], Cells]]]:
    """The third factor that shows most: its levels, grouped by the cells they share."""
    candidates = [third for third in levels if third not in (rows, columns)]
    grouped = {third: _grouped(configurations, (rows, columns), third, levels[third]) for third in candidates}
    if not grouped:
        return "", [([], Counter((found[rows], found[columns]) for found in configurations))]
    third = max(grouped, key=lambda candidate: len(grouped[candidate]))
    return third, grouped[third]


def _grouped(
    configurations: Sequence[Configuration], axes: tuple[str, str], third: str, thirds: Sequence[Level]
) -> list[tuple[list[Level], Cells]]:
    rows, columns = axes
    cells: dict[Level, Cells] = {level: Counter() for level in thirds}
    for found in configurations:
        cells[found[third]][found[rows], found[columns]] += 1
    groups: list[tuple[list[Level], Cells]] = []
    for level, inside in cells.items():
        alike = next((levels for levels, other in groups if other == inside), None)
        if alike is None:
            groups.append(([level], inside))
        else:
            alike.append(level)
    return groups


def _matrix(cells: Cells, picture: Picture) -> Iterator[str]:
    rows, columns, levels = picture.rows, picture.columns, picture.levels
    shown = levels[columns][:MAX_COLUMNS]
    heads = [label(columns, level) for level in shown]
    width = max(len(label(rows, level)) for level in levels[rows])
    more = len(levels[columns]) - len(shown)
    yield " ".join([" " * width, *heads]) + (f"  ... and {more} more" if more else "")
    for row in levels[rows][:MAX_ROWS]:
        counts = [cells[row, column] for column in shown]
        marks = [_shade(count, picture.fullest) * len(head) for count, head in zip(counts, heads, strict=True)]
        yield " ".join([label(rows, row).rjust(width), *marks])
    if len(levels[rows]) > MAX_ROWS:
        yield f"... and {len(levels[rows]) - MAX_ROWS} more rows"


def _shade(count: int, fullest: int) -> str:
    """No cell that has something looks empty, none that lacks something looks full."""
    return SHADES[math.ceil(count / fullest * (len(SHADES) - 1))] if count < fullest else SHADES[-1]


def _legend(fullest: int) -> str:
    return f"a cell: {SHADES[-1]} {fullest} configurations, {''.join(SHADES[1:-1])} fewer, {SHADES[0]} none"
