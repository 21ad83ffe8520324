"""`modescope counters`: tables in, models, rankings, answers and comparisons out."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from analysis.counters import methods
from analysis.counters.errors import MissingLibraryError, OutsideRangeError
from analysis.counters.features import features
from analysis.counters.samples import Samples
from orchestrator.cli.counters.columns import Wanted, ghz, read
from orchestrator.cli.counters.commands import counters
from orchestrator.contracts.errors import RequestError, TableError


def run(*arguments: object) -> Result:
    return CliRunner().invoke(counters, [str(one) for one in arguments], standalone_mode=False)


def told(*arguments: object) -> Any:
    result = run(*arguments, "--json")
    assert result.exception is None, result.exception
    return json.loads(result.stdout)


def write(path: Path, columns: Mapping[str, Any]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """60 samples: runtime 10 + 20 misses a cycle x 1000 + 5 / f; loads follow misses; two modes a sample."""
    rng = np.random.default_rng(1)
    n = 60
    cycles, misses = rng.uniform(1e9, 2e9, n), rng.uniform(1e-3, 3e-3, n)
    khz, threads = rng.choice([1_200_000, 2_400_000, 3_600_000], n), rng.choice([1, 8, 64], n)
    runtime = (10 + 20e3 * misses + 5e6 / khz) * (1 + 0.001 * rng.normal(size=n))
    both = {
        "host": [f"m{k % 2}" for k in range(n)],
        "freq": khz,
        "threads": threads,
        "cores": [2048 if k >= 50 else 64 for k in range(n)],
        "test": ["readers"] * n,
        "cycles": np.round(cycles),
        "LLC-load-misses": np.round(cycles * misses),
        "LLC-loads": np.round(cycles * misses * 3 * rng.uniform(0.99, 1.01, n)),
        "page-faults": rng.integers(1000, 2000, n),
        "runtime": runtime,
        "throughput": 1000 / runtime,
    }
    doubled = {name: [value for value in column for _ in range(2)] for name, column in both.items()}
    doubled["test"] = ["readers", "writers"] * n
    return write(tmp_path / "samples.csv", doubled)


def test_columns_are_recognised_and_modes_joined(table: Path) -> None:
    found = told("fit", table, "--target", "runtime")
    assert found["table"]["samples"] == 60
    columns = found["table"]["columns"]
    assert columns["frequency"] == "freq"
    assert columns["cycles"] == "cycles"
    assert set(columns["counters"]) == {"cycles", "LLC-load-misses", "LLC-loads", "page-faults"}
    assert columns["labels"] == ["host", "freq", "threads", "cores", "test"]
    assert any("120 rows hold 60 runs" in note for note in found["table"]["notes"])


def test_a_fit_tells_coefficients_and_predicts_what_was_held_out(table: Path, tmp_path: Path) -> None:
    predictions = tmp_path / "predicted.csv"
    model = told(
        "fit", table, "--target", "runtime", "--hold-out", "cores=2048", "--predictions", predictions
    )["models"][0]  # fmt: skip
    assert model["samples"] == 50
    assert model["terms"][0]["counter"] == "LLC-load-misses"
    assert model["terms"][0]["coefficient"] == pytest.approx(20e3, rel=0.02)
    assert model["frequency_coefficient"] == pytest.approx(5, rel=0.1)
    assert model["intervals"]["LLC-load-misses"]["low"] < 20e3 < model["intervals"]["LLC-load-misses"]["high"]
    assert model["predicted"]["n"] == 10
    assert model["predicted"]["mean_error_percent"] < 0.5
    rows = list(csv.DictReader(predictions.read_text().splitlines()))
    assert len(rows) == 10
    assert {row["cores"] for row in rows} == {"2048"}


def test_a_fit_writes_a_row_a_term(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "terms.csv"
    result = run("fit", table, "--target", "runtime", "--out", out)
    assert result.exception is None
    assert "LLC-load-misses" in result.stdout
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["term"] for row in rows[:3]] == ["intercept", "frequency", "LLC-load-misses"]


def test_counters_are_ranked_for_each_target(table: Path) -> None:
    found = told("rank", table)
    assert [one["target"] for one in found["rankings"]] == ["runtime", "throughput"]
    assert found["rankings"][0]["ranking"][0]["counter"] == "LLC-load-misses"
    assert set(found["combined"]) == {"LLC-load-misses", "LLC-loads", "page-faults"}


def test_a_what_if_tells_the_change_and_what_followed(table: Path) -> None:
    change = told("what-if", table, "--target", "runtime", "--counter", "LLC-loads", "--change", "-20")["changes"][0]
    assert change["followers"][0]["counter"] == "LLC-load-misses"
    assert change["low_percent"] <= change["change_percent"] <= change["high_percent"] < 0


def test_a_what_if_outside_of_the_data_is_refused(table: Path) -> None:
    result = run("what-if", table, "--target", "runtime", "--counter", "LLC-loads", "--change", "500")
    assert isinstance(result.exception, OutsideRangeError)


@pytest.fixture
def three_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three quick ones of the ten."""
    few = {name: methods.TEN[name] for name in ("ridge", "nearest_neighbours", "inference_tree")}
    monkeypatch.setattr(methods, "TEN", few)


@pytest.mark.usefixtures("three_methods")
def test_methods_are_compared_on_the_same_splits(table: Path, tmp_path: Path) -> None:
    out, predictions, plots = tmp_path / "o.csv", tmp_path / "p.csv", tmp_path / "plots.html"
    found = told(
        "compare", table, "--target", "runtime", "--splits", 1, "--out", out, "--predictions", predictions,
        "--plots", plots,
    )["targets"][0]  # fmt: skip
    by_name = {one["method"]: one for one in found["methods"]}
    assert set(by_name) == {"training_mean", "mummi", "ridge", "nearest_neighbours", "inference_tree", "stacked"}
    assert by_name["mummi"]["mean_error_percent"] < 1
    assert sum(found["stack_weights"].values()) == pytest.approx(1)
    assert {row["method"] for row in csv.DictReader(out.read_text().splitlines())} == set(by_name)
    rows = list(csv.DictReader(predictions.read_text().splitlines()))
    assert len(rows) == 12 * 6
    assert all(float(row["predicted"]) > 0 for row in rows)
    assert plots.read_text().count("<svg") == (3 if found["best"] == "mummi" else 4)


@pytest.mark.usefixtures("three_methods")
def test_configurations_are_held_out_whole(table: Path, tmp_path: Path) -> None:
    predictions = tmp_path / "p.csv"
    told(
        "compare", table, "--target", "runtime", "--grouped", "--group-by", "threads,freq", "--splits", 1,
        "--predictions", predictions,
    )  # fmt: skip
    rows = [row for row in csv.DictReader(predictions.read_text().splitlines()) if row["method"] == "ridge"]
    held = {(row["threads"], row["freq"]) for row in rows}
    whole = {
        (row["threads"], row["freq"]): row for row in csv.DictReader(table.read_text().splitlines())
    }  # fmt: skip
    count = sum((row["threads"], row["freq"]) in held for row in csv.DictReader(table.read_text().splitlines())) // 2
    assert len(held) < len(whole)
    assert len(rows) == count


@pytest.mark.usefixtures("three_methods")
def test_random_splits_of_single_runs_come_with_a_warning(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    runs = write(
        tmp_path / "runs.csv",
        {
            "threads": np.repeat(range(10), 6), "c1": rng.uniform(1, 2, 60), "c2": rng.uniform(1, 2, 60),
            "runtime": rng.uniform(1, 2, 60),
        },
    )  # fmt: skip
    found = told("compare", runs, "--merge", "none", "--splits", 1)
    assert "both sides of a random split" in found["warnings"][0]
    assert told("compare", runs, "--merge", "none", "--splits", 1, "--grouped")["warnings"] == []


def test_all_ten_methods_predict_positive_numbers() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(3)
    rates = {f"c{k}": rng.uniform(1, 3, 40) for k in range(4)}
    some = Samples(labels={}, rates=rates, frequency_ghz=None, targets={"io_time": rates["c0"] ** 8})
    x = features(some).matrix
    for name in methods.TEN:
        learned = methods.learn(name, x[:32], some.target("io_time")[:32], np.arange(32), seed=1)
        assert np.all(learned.predict(x[32:] + 5) > 0), name


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "find_spec", lambda name: None if name == "cubist" else object())
    with pytest.raises(MissingLibraryError, match=r"needs cubist: install .*counters"):
        methods.require()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("freq", 1.2e6, 1.2),
        ("frequency_khz", 800.0, 0.0008),
        ("cpufreq", 2.5e9, 2.5),
        ("f", 2.0, 2.0),
        ("mhz", 2000, 2),
    ],
)
def test_frequencies_become_ghz_by_their_unit_or_size(name: str, value: float, expected: float) -> None:
    assert ghz(name, np.full(3, value))[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (["--target", "nothing"], Exception, "nothing"),
        (["--counters", "L2-*"], TableError, "no column is named 'L2-\\*'"),
        (["--hold-out", "cores"], RequestError, "write LABEL=LEVEL"),
        (["--hold-out", "cores=7"], RequestError, "no sample has cores 7"),
        (["--group-by", "colour"], Exception, "colour"),
    ],
)
def test_mistakes_are_told_in_one_line(table: Path, arguments: list[str], kind: type[Exception], message: str) -> None:
    result = run("fit", table, *arguments)
    assert isinstance(result.exception, kind)
    assert result.exception is not None
    import re

    assert re.search(message, str(result.exception))
    assert "\n" not in str(result.exception)


def test_a_table_without_targets_says_so(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="looks like a target"):
        read([write(tmp_path / "a.csv", {"c1": [1.5, 2.5], "c2": [1, 2]})], Wanted())


def test_without_counters_the_form_is_that_of_the_frequency_alone(tmp_path: Path) -> None:
    ghz_levels = np.repeat([1.0, 1.5, 2.0, 2.5, 3.0], 4)
    power = 50 + 4 * ghz_levels**3 + np.tile([-0.1, 0.1], 10)
    table = write(tmp_path / "p.csv", {"ranks": np.tile([1, 2, 4, 8], 5), "f": ghz_levels, "node_power": power})
    model = told("fit", table)["models"][0]
    assert model["intercept"] == pytest.approx(50, rel=0.01)
    assert model["frequency_coefficient"] == pytest.approx(4, rel=0.01)
    assert isinstance(run("rank", table).exception, RequestError)


@pytest.mark.usefixtures("three_methods")
def test_methods_have_nothing_to_learn_of_a_target_that_does_not_vary(tmp_path: Path) -> None:
    same = write(tmp_path / "same.csv", {"c1": np.linspace(1, 2, 20), "runtime": [5] * 20})
    assert "does not vary" in str(run("compare", same, "--splits", 1).exception)


def test_labels_that_number_things_are_not_learned_from() -> None:
    some = Samples(
        labels={"id": ("1", "2", "3"), "threads": ("1", "8", "16"), "host": ("1", "2", "3"), "app": ("a", "b", "c")},
        rates={"c1": np.array([1.0, 2, 3])},
        frequency_ghz=None,
        targets={"runtime": np.ones(3)},
    )
    assert features(some).names == ("c1", "threads")
    assert features(some, ["app"]).names == ("c1", "app=a", "app=b", "app=c")
