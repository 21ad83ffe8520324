"""Counters: rows become samples, the paper's form finds what is planted, what-if stays within the data."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.counters import intervals, mummi, ranking, separation, what_if
from analysis.counters.errors import NoSuchColumnError, OutsideRangeError, TooFewSamplesError
from analysis.counters.merging import Rows, samples
from analysis.counters.samples import Samples

BLOCKS, IN_BLOCK, ACTIVE = 8, 4, 6


def planted(seed: int, *, correlation: float = 0.7, n: int = 144, larger: int = 36) -> tuple[Samples, set[str]]:
    """32 counters in correlated blocks, 6 of them active; the last `larger` samples have larger rates. 1 % noise."""
    rng = np.random.default_rng(seed)
    count, whole = BLOCKS * IN_BLOCK, n + larger
    common = np.repeat(rng.normal(size=(whole, BLOCKS)), IN_BLOCK, axis=1)
    mixed = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=(whole, count))
    sizes = 10 ** rng.uniform(-5, -1, count)
    rates = sizes * np.exp(0.35 * mixed)
    rates[n:] *= 1.3
    f = rng.choice([1.2, 1.6, 2.0, 2.4, 2.8], whole)
    active = rng.choice(count, ACTIVE, replace=False)
    runtime = 20 + 60 / f + (rates[:, active] / sizes[active]) @ rng.uniform(5, 20, ACTIVE)
    power = 80 + 4 * f**3 + (rates[:, active] / sizes[active]) @ rng.uniform(5, 20, ACTIVE)
    noise = 1 + 0.01 * rng.normal(size=(2, whole))
    found = Samples(
        labels={},
        rates={f"c{k:02d}": rates[:, k] for k in range(count)},
        frequency_ghz=f,
        targets={"runtime": runtime * noise[0], "node_power": power * noise[1]},
    )
    return found, {f"c{k:02d}" for k in active}


def rows(**columns: list[float]) -> Rows:
    """Two configurations, a and b, of three runs each."""
    return Rows(
        labels={"size": ("a", "a", "a", "b", "b", "b")},
        within={},
        counters={name: np.array(column) for name, column in columns.items() if name != "runtime"},
        cycles="cycles" if "cycles" in columns else None,
        frequency_ghz=None,
        targets={"runtime": np.array(columns["runtime"])},
    )


def test_rows_of_one_run_are_joined_and_its_modes_become_targets() -> None:
    table = Rows(
        labels={"size": ("a", "a", "b", "b"), "mode": ("read", "write", "read", "write")},
        within={"iter": ("1", "1", "1", "1")},
        counters={"cycles": np.array([10.0, 10, 20, 20]), "misses": np.array([1.0, 1, 4, 4])},
        cycles="cycles",
        frequency_ghz=None,
        targets={"runtime": np.array([5.0, 5, 6, 6]), "throughput": np.array([100.0, 50, 200, 70])},
    )
    found = samples(table)
    assert found.n == 2
    assert found.labels == {"size": ("a", "b")}
    assert found.targets["runtime"].tolist() == [5, 6]
    assert found.targets["throughput_read"].tolist() == [100, 200]
    assert found.rates["misses"].tolist() == [0.1, 0.2]
    assert "4 rows hold 2 runs" in found.notes[0]


def test_runs_of_one_configuration_become_one_sample_of_medians() -> None:
    table = rows(cycles=[10, 10, 10, 20, 20, 20], misses=[1, 2, 9, 2, 4, 6], runtime=[3, 2, 1, 6, 5, 4])
    found = samples(table, "median")
    assert found.rates["misses"].tolist() == [0.2, 0.2]
    assert found.targets["runtime"].tolist() == [2, 5]


def test_sets_of_counters_from_different_runs_are_merged_from_the_fastest_that_counted_them() -> None:
    nan = float("nan")
    table = rows(
        cycles=[10, 10, 10, 20, 20, 20], misses=[1, 2, nan, 2, 4, nan], loads=[nan, nan, 5, nan, nan, 8],
        runtime=[3, 2, 7, 6, 5, 9],
    )  # fmt: skip
    found = samples(table, "min_runtime")
    assert found.rates["misses"].tolist() == [0.2, 0.2]
    assert found.rates["loads"].tolist() == [0.5, 0.4]
    assert found.targets["runtime"].tolist() == [2, 5]


def test_without_cycles_counters_are_taken_as_rates_and_this_is_said() -> None:
    found = samples(rows(misses=[1, 2, 9, 2, 4, 6], runtime=[3, 2, 1, 6, 5, 4]), "mean")
    assert found.rates["misses"].tolist() == [4, 4]
    assert not found.per_cycle
    assert any("no total cycles" in note for note in found.notes)


def test_a_model_of_three_samples_is_refused() -> None:
    with pytest.raises(TooFewSamplesError, match="a model asks for 12"):
        planted(1)[0].only(np.arange(3)).usable("runtime")


@pytest.mark.parametrize("seed", range(4))
def test_active_counters_are_among_the_first_eight_and_larger_cases_are_predicted(seed: int) -> None:
    whole, active = planted(seed)
    small, large = whole.only(np.arange(144)), whole.only(np.arange(144, 180))
    for target in ("runtime", "node_power"):
        model = mummi.fit(small, target)
        assert active <= {one.counter for one in ranking.ranking(model)[:8]}
        assert np.max(np.abs(model.predict(large) / large.target(target) - 1)) < 0.06


def test_a_target_that_no_counter_moves_has_no_terms() -> None:
    whole, _ = planted(5)
    rng = np.random.default_rng(0)
    alone = Samples(
        labels={}, rates=whole.rates, frequency_ghz=whole.frequency_ghz,
        targets={"runtime": 100 * np.exp(0.1 * rng.normal(size=whole.n))},
    )  # fmt: skip
    assert len(mummi.fit(alone, "runtime").terms) <= 1


def test_no_prediction_is_negative_wherever_the_rates_go() -> None:
    whole, _ = planted(6)
    model = mummi.fit(whole, "runtime")
    none = Samples(
        labels={}, rates={name: np.zeros(3) for name in whole.rates}, frequency_ghz=np.full(3, 50.0), targets={
            "runtime": np.ones(3)}
    )  # fmt: skip
    assert np.all(model.predict(none) >= 0)


def test_a_power_that_is_linear_in_the_frequency_shows_that_its_cube_is_the_wrong_shape() -> None:
    rng = np.random.default_rng(3)
    f = np.repeat([1.0, 1.5, 2.0, 2.5, 3.0, 3.5], 10)
    power = (50 + 80 * f) * (1 + 0.01 * rng.normal(size=60))
    some = Samples(labels={}, rates={"c": rng.uniform(size=60)}, frequency_ghz=f, targets={"node_power": power})
    model = mummi.fit(some, "node_power")
    levels = intervals.by_frequency(some, model.predict(some), power)
    assert intervals.better_form("f^3", intervals.forms(some, "node_power")) == "f"
    assert sum(level.is_off for level in levels) >= 4


def test_intervals_of_coefficients_hold_the_planted_ones() -> None:
    rng = np.random.default_rng(4)
    f, r = rng.choice([1.0, 2.0, 3.0], 120), rng.uniform(1, 2, 120)
    runtime = (10 + 5 / f + 20 * r) * (1 + 0.01 * rng.normal(size=120))
    some = Samples(labels={}, rates={"c": r}, frequency_ghz=f, targets={"runtime": runtime})
    model = mummi.fit(some, "runtime")
    known = intervals.coefficients(some, model, np.arange(120), np.random.default_rng(0))
    for name, value in (("frequency", 5), ("c", 20)):
        assert known[name].low <= value <= known[name].high


def asked(counter: str, percent: float) -> what_if.Change:
    """Runtime 10 + 20 a; b = 2 a and a little, c is apart."""
    rng = np.random.default_rng(7)
    a = rng.uniform(1, 3, 100)
    rates = {"a": a, "b": 2 * a + 0.01 * rng.normal(size=100), "c": rng.uniform(1, 3, 100)}
    some = Samples(labels={}, rates=rates, frequency_ghz=None, targets={"runtime": 10 + 20 * a})
    model = mummi.fit(some, "runtime")
    return what_if.what_if(some, model, counter, percent, np.random.default_rng(1), groups=np.arange(100))


def test_what_follows_a_counter_changes_with_it() -> None:
    found = asked("b", -20)
    assert [one.counter for one in found.followers] == ["a"]
    assert found.followers[0].change_percent == pytest.approx(-20, abs=1)
    assert found.change_percent == pytest.approx(-20 * 40 / 50, abs=1.5)
    assert found.low_percent <= found.change_percent <= found.high_percent


def test_a_counter_that_is_not_in_the_model_changes_nothing() -> None:
    assert not asked("c", 10).in_model


def test_what_was_never_measured_is_refused() -> None:
    with pytest.raises(OutsideRangeError, match="outside of what was measured"):
        asked("a", 200)
    with pytest.raises(NoSuchColumnError):
        asked("nothing", 10)


def test_counters_that_tell_components_apart_are_named() -> None:
    rng = np.random.default_rng(8)
    component = np.repeat([0, 1], [40, 30])
    counters = {
        "switches": np.exp(rng.normal(size=70) + 4 * component),
        "loads": np.exp(rng.normal(size=70)),
        "same": np.ones(70),
    }
    found = separation.separate(component, counters, np.random.default_rng(0), permutations=99)
    assert found.tells
    assert found.accuracy > 0.9
    assert found.tellers[0].counter == "switches"
    assert found.tellers[0].auc > 0.9
    assert {one.counter for one in found.tellers} == {"switches", "loads"}


def test_counters_of_chance_tell_nothing() -> None:
    rng = np.random.default_rng(9)
    component = np.repeat([0, 1], 30)
    p = [
        separation.separate(component, {f"c{k}": rng.normal(size=60) ** 2 for k in range(4)}, rng, permutations=39).p
        for _ in range(20)
    ]
    assert np.mean(np.array(p) <= 0.05) <= 0.2


def test_a_component_of_three_runs_is_too_small_to_tell_apart() -> None:
    with pytest.raises(TooFewSamplesError, match="57, 3"):
        separation.separate(np.repeat([0, 1], [57, 3]), {"c": np.arange(60.0)}, np.random.default_rng(0))
