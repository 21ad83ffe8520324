"""`modescope fit --quantiles`: quantiles and their standard errors, as CSV."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner

from orchestrator.cli.samples import fit as command

QUICK = ("--families", "normal", "--max-components", 2)
COLUMNS = "freq,mode,n,q,quantile,se,se_method,se_refused"


@pytest.fixture
def runs(tmp_path):
    """Three configurations: one peak, runs that pile up on one value beside others, and nothing that varies."""
    rng = np.random.default_rng(3)
    piled = [*rng.normal(5e6, 3e5, 50), *(1e6 + np.arange(50))]
    rows = [("0800", "read", *rng.normal(5e6, 3e5, 100)), ("1200", "read", *piled), ("1200", "write", *[3] * 100)]
    path = tmp_path / "runs.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("freq", "mode", *(f"t{i}" for i in range(1, 101))), *rows])
    return path


def run(*arguments):
    return CliRunner().invoke(command.fit, [str(a) for a in arguments], standalone_mode=False)


def quantiles_of(runs, path, *arguments):
    wanted = ("--quantiles", "0.1,0.9", "--quantiles-out", path)
    result = run(runs, "--out", path.with_suffix(".summary"), *QUICK, *wanted, *arguments)
    assert result.return_value == 0
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_one_row_for_one_configuration_and_quantile(runs, tmp_path):
    rows = quantiles_of(runs, tmp_path / "q.csv")
    assert ",".join(rows[0]) == COLUMNS
    assert [(row["freq"], row["mode"], row["q"]) for row in rows[:3]] == [
        ("0800", "read", "0.1"),
        ("0800", "read", "0.9"),
        ("1200", "read", "0.1"),
    ]
    assert len(rows) == 6
    assert {row["n"] for row in rows} == {"100"}
    assert {row["se_method"] for row in rows} == {"delta"}
    assert float(rows[0]["quantile"]) == pytest.approx(5e6 - 1.28 * 3e5, rel=0.03)
    assert float(rows[0]["se"]) == pytest.approx(3e5 * np.sqrt((1 + 1.28**2 / 2) / 100), rel=0.2)


def test_a_refused_standard_error_has_its_reason_and_the_bootstrap_a_number(runs, tmp_path):
    by_delta = quantiles_of(runs, tmp_path / "delta.csv")
    by_bootstrap = quantiles_of(runs, tmp_path / "bootstrap.csv", "--se", "bootstrap", "--resamples", 5)
    assert by_delta[2]["se"] == ""
    assert "as narrow as the floor" in by_delta[2]["se_refused"]
    assert float(by_bootstrap[2]["se"]) > 0
    assert by_bootstrap[2]["se_refused"] == ""
    for row in (by_delta[5], by_bootstrap[5]):
        assert (row["quantile"], row["se"]) == ("", "")
        assert "all 100 values are 3" in row["se_refused"]


def test_the_bootstrap_depends_on_the_seed_and_not_on_processes(runs, tmp_path):
    bootstrap = ("--se", "bootstrap", "--resamples", 5, "--seed")
    once = quantiles_of(runs, tmp_path / "a.csv", *bootstrap, 1)
    assert quantiles_of(runs, tmp_path / "b.csv", *bootstrap, 1, "--processes", 2) == once
    assert quantiles_of(runs, tmp_path / "c.csv", *bootstrap, 2) != once


def test_the_other_outputs_stay_as_they_are(runs, tmp_path):
    run(runs, "--out", tmp_path / "plain.csv", *QUICK)
    quantiles_of(runs, tmp_path / "q.csv")
    assert (tmp_path / "q.summary").read_bytes() == (tmp_path / "plain.csv").read_bytes()


def test_ctrl_c_keeps_the_rows_that_came(runs, tmp_path, monkeypatch):
    rows = command.quantile_rows.rows
    monkeypatch.setattr(command.quantile_rows, "rows", lambda *given: interrupted_once(rows(*given)))
    path = tmp_path / "q.csv"
    result = run(runs, "--out", tmp_path / "out.csv", *QUICK, "--quantiles", "0.5", "--quantiles-out", path)
    assert result.return_value == 130
    assert len(path.read_text().splitlines()) == 2


def interrupted_once(rows):
    yield next(rows)
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--quantiles", "0.1,1"), "0 < q < 1, not 1.0"),
        (("--quantiles", "0"), "0 < q < 1, not 0.0"),
        (("--quantiles", "nan"), "0 < q < 1, not nan"),
        (("--quantiles", "0.1,median"), "'median' is not a number"),
        (("--se", "bootstrap"), "--se needs --quantiles"),
        (("--quantiles", "0.1"), "need each other"),
        (("--quantiles-out", "q.csv"), "need each other"),
    ],
)
def test_mistakes_are_told_before_anything_is_fitted(runs, arguments, reason):
    result = run(runs, *arguments)
    assert reason in str(result.exception)
    assert result.exception.exit_code == 2
