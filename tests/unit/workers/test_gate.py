"""Which runs count: a pure function of what was observed around a run and the study's bounds."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.preparation import NO_BOUNDS, Bounds
from workers.node.gate import Observation, judge

FINE = Observation(
    wanted_khz=2_000_000,
    frequency_khz=1_990_000,
    start_temperature_c=40.0,
    temperature_c=70.0,
    foreign_cpus=0.1,
    foreign_kbps=10.0,
    kernel_errors=(),
    free_kb=10**9,
    cached_kb=0,
)


def test_a_quiet_run_counts() -> None:
    assert judge(FINE, Bounds()) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"frequency_khz": 1_800_000}, "ran at 1800000 kHz, not at the wanted 2000000 kHz"),
        ({"frequency_khz": 0}, "ran at 0 kHz"),
        ({"frequency_khz": 2_300_000}, "ran at 2300000 kHz"),
        ({"start_temperature_c": 80.5}, "had not cooled down to 80 °C"),
        ({"temperature_c": 96.0}, "hotter than 95 °C"),
        ({"foreign_cpus": 0.6}, "more than 0.5 CPUs busy"),
        ({"foreign_kbps": 20_001.0}, "more than 20000 kB/s on the target's disk"),
        ({"kernel_errors": ("I/O error, dev sda", "and more")}, "the kernel reported: I/O error, dev sda"),
        ({"cached_kb": 65_537}, "the page cache was not cold before it: more than 65536 kB were in it"),
        ({"free_kb": 0}, "less than 102400 kB free"),
    ],
)
def test_each_disturbance_has_its_reason(change: dict[str, object], said: str) -> None:
    seen = replace(FINE, **change)  # type: ignore[arg-type]  # one field each
    reason = judge(seen, Bounds())
    assert reason is not None
    assert said in reason
    assert "\n" not in reason
    assert judge(seen, NO_BOUNDS) is None


def test_what_cannot_be_told_is_not_judged() -> None:
    assert judge(Observation(), Bounds()) is None
    assert judge(Observation(wanted_khz=2_000_000), Bounds()) is None


def test_a_shared_machine_is_not_blamed_for_its_company_but_marked() -> None:
    busy = replace(FINE, foreign_cpus=2.0, foreign_kbps=1e6, shared=True)
    assert judge(busy, Bounds()) is None
    assert busy.as_dict()["shared"] is True
    assert judge(replace(busy, temperature_c=99.0), Bounds()) is not None


def test_zero_is_told_and_what_is_not_known_is_left_out() -> None:
    assert Observation(foreign_cpus=0.0, kernel_errors=()).as_dict() == {"foreign_cpus": 0.0, "kernel_errors": ()}


def test_a_bound_of_zero_is_a_bound() -> None:
    assert judge(FINE, replace(NO_BOUNDS, max_foreign_cpus=0)) is not None
    assert judge(replace(FINE, foreign_cpus=0.0), replace(NO_BOUNDS, max_foreign_cpus=0)) is None
    assert judge(FINE, replace(NO_BOUNDS, frequency_tolerance=0)) is not None


@given(st.floats(min_value=0, allow_nan=False), st.floats(min_value=0, allow_nan=False))
def test_a_looser_bound_never_rejects_more(one: float, other: float) -> None:
    tight, loose = sorted((one, other))
    if judge(FINE, replace(NO_BOUNDS, max_temperature_c=loose)) is not None:
        assert judge(FINE, replace(NO_BOUNDS, max_temperature_c=tight)) is not None


def test_throughput_is_not_among_the_arguments() -> None:
    assert not any(word in field.name for field in fields(Observation) for word in ("throughput", "values", "elapsed"))
