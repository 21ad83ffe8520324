"""The factors of measured configurations, read from the text of their labels: numbers, or names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from analysis.arrays import Array, Flags
from analysis.errors import BadSampleError

# Positive numbers over such a range are sizes and counts: their ratios matter.
LOG_RATIO = 4.0
# Of more such columns than this the pairs are too many for a process to learn a length for each.
PAIRED = 4
# Farther from every measured point than this many times what neighbours are apart: not between measured points.
FAR = 2.0


@dataclass(frozen=True, kw_only=True)
class Factor:
    """One column: its place among the labels, and its levels in order, as numbers or as text."""

    name: str
    place: int
    is_number: bool
    is_log: bool
    levels: tuple[float, ...]
    names: tuple[str, ...] = ()

    def code(self, text: str) -> float:
        """The coordinate of a level: log2 or the number itself; a name's place, -1 when never seen."""
        if not self.is_number:
            return float(self.names.index(text)) if text in self.names else -1.0
        number = _number(text)
        if number is None or (self.is_log and number <= 0):
            raise BadSampleError(f"{self.name}: {text!r} is not {'a positive' if self.is_log else 'a'} number")
        return math.log2(number) if self.is_log else number

    @cached_property
    def scale(self) -> float:
        """What one unit of distance is: the standard deviation of the levels; 1 for names."""
        return float(np.std(self.levels)) if self.is_number else 1.0


@dataclass(frozen=True, kw_only=True)
class Factors:
    """The columns that vary among the measured rows, and where the measured rows lie."""

    varying: tuple[Factor, ...]
    constant: tuple[tuple[int, str], ...]
    # The median distance from a measured row to the next one, in the units of `scaled`.
    spacing: float
    measured: Array

    @classmethod
    def of(cls, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Factors:
        """The factors of the measured rows of labels. Raises `BadSampleError` when no column varies."""
        columns = list(zip(*rows, strict=True))
        varying = tuple(_factor(names[at], at, cells) for at, cells in enumerate(columns) if len(set(cells)) > 1)
        if not varying:
            raise BadSampleError("no label column has two levels: there is nothing to predict from")
        constant = tuple((at, cells[0]) for at, cells in enumerate(columns) if len(set(cells)) == 1)
        bare = cls(varying=varying, constant=constant, spacing=np.inf, measured=np.empty((0, len(varying))))
        scaled = bare.scaled(bare.codes(rows))
        return cls(varying=varying, constant=constant, spacing=_spacing(scaled, bare.numeric), measured=scaled)

    @property
    def numeric(self) -> Flags:
        """Which of the varying factors are numbers."""
        return np.array([factor.is_number for factor in self.varying])

    def codes(self, rows: Sequence[Sequence[str]]) -> Array:
        """Coordinates, shape (rows, varying factors). Raises `BadSampleError` for text in a column of numbers."""
        return np.array([[factor.code(row[factor.place].strip()) for factor in self.varying] for row in rows])

    def scaled(self, codes: Array) -> Array:
        """Coordinates in which a standard deviation of the levels is 1."""
        return np.asarray(codes / np.array([factor.scale for factor in self.varying]))

    def coordinates(self, codes: Array) -> Array:
        """What processes measure distances in: `scaled`, and products and ratios of sizes and counts likewise.

        A cache ends at one product of threads and file size, a request at one ratio of file and record size: between
        levels that is smooth along them, and a kink along every single factor.
        """
        columns = [self.scaled(codes)]
        for one, other in self._pairs():
            unit = math.hypot(self.varying[one].scale, self.varying[other].scale)
            left, right = codes[:, [one, other]].T
            columns.append(np.stack([left + right, left - right], axis=1) / unit)
        return np.concatenate(columns, axis=1)

    @property
    def smooth(self) -> Flags:
        """Which of the coordinates are numbers."""
        return np.append(self.numeric, np.ones(2 * len(self._pairs()), dtype=bool))

    def _pairs(self) -> list[tuple[int, int]]:
        logs = [at for at, factor in enumerate(self.varying) if factor.is_log]
        return list(combinations(logs, 2)) if len(logs) <= PAIRED else []

    def features(self, codes: Array) -> Array:
        """What trees split on: coordinates; sums and differences of those of one kind (products, ratios); names."""
        numbers = [at for at, factor in enumerate(self.varying) if factor.is_number]
        columns = [codes[:, at] for at in numbers]
        for one, other in combinations(numbers, 2):
            alike = self.varying[one].is_log and self.varying[other].is_log
            left, right = (codes if alike else self.scaled(codes))[:, [one, other]].T
            columns += [left + right, left - right]
        for at, factor in enumerate(self.varying):
            columns += [(codes[:, at] == level).astype(float) for level in range(len(factor.names))]
        return np.stack(columns, axis=1)

    def unseen(self, codes: Array) -> Flags:
        """Whether each level of each row was never measured, shape (rows, varying factors)."""
        seen = [np.isin(np.round(codes[:, at], 9), np.round(f.levels, 9)) for at, f in enumerate(self.varying)]
        return ~np.stack(seen, axis=1)

    def extrapolated(self, rows: Sequence[Sequence[str]]) -> Flags:
        """Outside the range of a number, at a name never measured, or far from all that was measured."""
        codes = self.codes(rows)
        low = np.array([min(factor.levels) for factor in self.varying])
        high = np.array([max(factor.levels) for factor in self.varying])
        outside = np.any((codes < low - 1e-9) | (codes > high + 1e-9), axis=1)
        other = np.array([any(row[at].strip() != text.strip() for at, text in self.constant) for row in rows])
        found: Flags = outside | other | (nearest(self.scaled(codes), self.measured, self.numeric) > self._far)
        return found

    @property
    def _far(self) -> float:
        # A left-out inner level is two gaps from either side: that is between measured points, not beyond them.
        gaps = [np.max(np.diff(sorted(f.levels))) / f.scale for f in self.varying if f.is_number]
        return FAR * max(self.spacing, *gaps, 1.0) if gaps else FAR * self.spacing


def nearest(points: Array, measured: Array, numeric: Flags) -> Array:
    """Distance from each point to the closest measured one; two different names are 2 apart."""
    found = np.empty(len(points))
    for at, point in enumerate(points):
        apart = np.where(numeric, measured - point, 2.0 * (measured != point))
        found[at] = np.sqrt(np.min(np.sum(apart**2, axis=1)))
    return found


def _factor(name: str, place: int, cells: Sequence[str]) -> Factor:
    texts = [cell.strip() for cell in cells]
    numbers = [number for number in map(_number, texts) if number is not None]
    if len(numbers) < len(texts):
        names = tuple(sorted(set(texts)))
        levels = tuple(float(level) for level in range(len(names)))
        return Factor(name=name, place=place, is_number=False, is_log=False, levels=levels, names=names)
    is_log = min(numbers) > 0 and max(numbers) >= LOG_RATIO * min(numbers)
    codes = sorted({math.log2(number) if is_log else number for number in numbers})
    return Factor(name=name, place=place, is_number=True, is_log=is_log, levels=tuple(codes))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


def _spacing(scaled: Array, numeric: Flags) -> float:
    some = np.linspace(0, len(scaled) - 1, min(len(scaled), 300)).astype(int)
    apart = [nearest(scaled[[at]], np.delete(scaled, at, axis=0), numeric)[0] for at in some]
    return float(np.median(apart))
