"""The picture of a sample: units and ticks that read well, every run and every density mode in it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.mixture import Options, select
from orchestrator.report import histogram, units

QUICK = Options(families=("normal",), max_components=2)


@pytest.mark.parametrize(
    ("throughput_kbps", "name", "told"),
    [(912.0, "kB/s", "912"), (4_560.0, "MB/s", "4.56"), (912_345.0, "MB/s", "912"), (1_204_000.0, "GB/s", "1.20")],
)
def test_a_throughput_is_told_in_the_unit_that_fits(throughput_kbps: float, name: str, told: str) -> None:
    unit = units.fitting(throughput_kbps)
    assert (unit.name, unit.told(throughput_kbps)) == (name, told)


@given(st.floats(0, 1e9), st.floats(1e-3, 1e9))
def test_ticks_are_few_evenly_spaced_and_inside(low: float, width: float) -> None:
    high = low + width
    marks, _ = units.ticks(low, high)
    slack = 1e-6 * width + 1e-6
    assert len(marks) <= units.TICKS + 1
    assert all(low - slack <= mark <= high + slack for mark in marks)


def test_the_ticks_of_a_known_axis() -> None:
    marks, decimals = units.ticks(0.84, 1.28)
    assert [f"{mark:.{decimals}f}" for mark in marks] == [f"{0.85 + 0.05 * k:.2f}" for k in range(9)]


def bars(picture: str) -> int:
    """How many bars there are."""
    return picture.count("<rect")


def test_two_modes_are_drawn_apart() -> None:
    rng = np.random.default_rng(1)
    sample = np.concatenate([rng.normal(900e3, 20e3, 90), rng.normal(1200e3, 20e3, 60)])
    picture = str(histogram.draw(sample.tolist(), select(sample, options=QUICK), "a sample"))

    assert picture.count('class="component c') == 2
    assert picture.count('class="peak"') == 2
    assert "beyond the axis" not in picture
    assert 4 <= bars(picture) <= histogram.bin_count(len(sample))


def test_a_far_run_is_left_out_and_said() -> None:
    rng = np.random.default_rng(2)
    sample = np.append(rng.normal(900e3, 20e3, 199), 90e6)
    picture = str(histogram.draw(sample.tolist(), select(sample, options=QUICK), "a sample"))
    assert "1 run lies beyond the axis" in picture


def test_a_sample_of_one_value_is_a_picture_too() -> None:
    rng = np.random.default_rng(3)
    sample = np.repeat(np.round(rng.normal(900e3, 1e3, 10)), 15)
    picture = str(histogram.draw(sample.tolist(), select(sample, options=QUICK), "ties"))
    assert "nan" not in picture
    assert bars(picture)


def test_places_are_finite_numbers() -> None:
    rng = np.random.default_rng(4)
    sample = rng.lognormal(3, 1.5, 80)
    picture = str(histogram.draw(sample.tolist(), select(sample, options=QUICK), "skewed"))
    assert not re.search(r"nan|inf", picture)


def test_a_title_is_escaped() -> None:
    sample = np.random.default_rng(5).normal(900e3, 20e3, 60)
    picture = str(histogram.draw(sample.tolist(), select(sample, options=QUICK), "<b>"))
    assert "<title>&lt;b&gt;</title>" in picture
