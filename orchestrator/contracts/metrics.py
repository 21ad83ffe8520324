"""What a run yields for each mode: name, unit, direction (DESIGN: vocabulary)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.contracts.engines import IMPORTED


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """One for a campaign, so that its samples can be looked at side by side."""

    name: str = "throughput"
    unit: str = "kB/s"
    larger_is_better: bool = True

    @property
    def column(self) -> str:
        """For a table: name and unit in small letters, `/` as `per`, other signs as `_`: `response_time_ms`.

        Of a throughput in kB/s it is `throughput_kbps`.
        """
        if self.name == "throughput" and self.unit == "kB/s":
            return "throughput_kbps"
        words = f"{self.name} {self.unit}".lower().replace("/", " per ").replace("%", " percent ")
        return re.sub(r"\W+", "_", words).strip("_") or "value"

    @property
    def label(self) -> str:
        """For an axis, in the metric's own unit."""
        return self.label_in(self.unit)

    def label_in(self, unit: str) -> str:
        """The same in a larger unit of its kind."""
        return f"{self.name} ({unit})" if self.larger_is_better else f"{self.name} ({unit}), smaller is better"


THROUGHPUT = Metric()
"""Of all engines but `command`, whose program may print anything, and of what was imported."""
WITH_OWN_METRIC = frozenset({"command", IMPORTED})


def of(engine: str, options: Mapping[str, object]) -> Metric:
    """What a study with this engine measures; `options` as they are kept with its campaign."""
    if engine not in WITH_OWN_METRIC:
        return THROUGHPUT
    return Metric(
        name=str(options.get("metric", THROUGHPUT.name)),
        unit=str(options.get("unit", THROUGHPUT.unit)),
        larger_is_better=options.get("larger_is_better") is not False,
    )
