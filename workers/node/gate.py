"""Does a run count? A pure function of what was observed and the study's bounds; throughput is not among its arguments.

A gate that looked at throughput would select on the outcome, and take the very variability away that is studied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from orchestrator.contracts.preparation import Bounds


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """A node around one run. None: it cannot be told here, and is not judged."""

    wanted_khz: int | None = None
    """None: the frequency was left as it is."""
    frequency_khz: int | None = None
    """Under load."""
    frequency_source: str | None = None
    """aperf_mperf, sampled, or after_run when the run was too short for a sample."""
    cached_kb: int | None = None
    """In the page cache before an invocation that was to find it dropped."""
    start_temperature_c: float | None = None
    temperature_c: float | None = None
    foreign_cpus: float | None = None
    foreign_kbps: float | None = None
    kernel_errors: tuple[str, ...] | None = None
    free_kb: int | None = None
    shared: bool = False
    """The node shares its machine with the controller: what is foreign cannot be told from what is ours."""

    def as_dict(self) -> dict[str, object]:
        """For a run's `observed`: what could be told."""
        return {name: value for name, value in asdict(self).items() if value is not None and value is not False}


def judge(seen: Observation, bounds: Bounds) -> str | None:
    """The first reason why a run does not count; None when it does."""
    return next(_reasons(seen, bounds), None)


def _reasons(seen: Observation, bounds: Bounds) -> Iterator[str]:
    if _off(seen.frequency_khz, seen.wanted_khz, bounds.frequency_tolerance):
        yield f"ran at {seen.frequency_khz} kHz, not at the wanted {seen.wanted_khz} kHz"
    if _above(seen.start_temperature_c, bounds.max_start_temperature_c):
        yield f"the CPUs had not cooled down to {bounds.max_start_temperature_c:g} °C before it"
    if _above(seen.temperature_c, bounds.max_temperature_c):
        yield f"the CPUs were hotter than {bounds.max_temperature_c:g} °C"
    if not seen.shared:
        if _above(seen.foreign_cpus, bounds.max_foreign_cpus):
            yield f"others kept more than {bounds.max_foreign_cpus:g} CPUs busy"
        if _above(seen.foreign_kbps, bounds.max_foreign_kbps):
            yield f"others moved more than {bounds.max_foreign_kbps:g} kB/s on the target's disk"
        if _above(seen.cached_kb, bounds.max_cached_kb):
            yield f"the page cache was not cold before it: more than {bounds.max_cached_kb:g} kB were in it"
    if seen.kernel_errors is not None and _above(len(seen.kernel_errors), bounds.max_kernel_errors):
        yield f"the kernel reported: {seen.kernel_errors[0][:200]}"
    if bounds.min_free_kb is not None and seen.free_kb is not None and seen.free_kb < bounds.min_free_kb:
        yield f"less than {bounds.min_free_kb:g} kB free on the target's file system"


def _above(value: float | None, bound: float | None) -> bool:
    return value is not None and bound is not None and value > bound


def _off(value: int | None, wanted: int | None, tolerance: float | None) -> bool:
    if value is None or wanted is None or tolerance is None:
        return False
    return abs(value - wanted) > tolerance * wanted
