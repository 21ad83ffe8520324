"""Throughput in the unit that fits, and round numbers for an axis."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.modality.verdicts import LARGER_UNITS
from orchestrator.contracts.metrics import THROUGHPUT

TICKS = 9


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """A unit, and how many kB/s one of it is; 1 for what is no rate: values are in that unit already."""

    name: str
    kbps: float

    def told(self, throughput_kbps: float) -> str:
        """`912`, `1.04`: three significant digits, no exponent."""
        value = throughput_kbps / self.kbps
        digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
        return f"{value:,.{digits}f}"


def fitting(value: float, unit: str = THROUGHPUT.unit) -> Unit:
    """The largest unit of which this throughput is at least one, as in the verdict's sentence; other units are kept."""
    if unit != THROUGHPUT.unit:
        return Unit(name=unit, kbps=1.0)
    factor, name = next((pair for pair in LARGER_UNITS if value >= pair[0]), LARGER_UNITS[-1])
    return Unit(name=name, kbps=factor)


def ticks(low: float, high: float, wanted: int = TICKS) -> tuple[list[float], int]:
    """Round numbers from `low` to `high` about (high - low) / `wanted` apart, and the decimals they need."""
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)], max(0, -math.floor(math.log10(step) + 1e-9))
