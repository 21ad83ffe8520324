"""`modescope sample-size`: samples or a known mixture in, a row a configuration or a curve out."""

import csv
import gzip
import json

import click
import numpy as np
import pytest
from click.testing import CliRunner

from orchestrator.cli.samples.sample_size import sample_size
from orchestrator.contracts.errors import StudyError

PAPER = "normal:0.03977,1.6023,2.3462;0.96023,-0.06634,0.8376"


def run(*arguments):
    return CliRunner().invoke(sample_size, [str(a) for a in arguments], standalone_mode=False)


def rows(result):
    assert result.exception is None, result.exception
    return list(csv.DictReader(result.stdout.splitlines()))


@pytest.fixture
def pilot(tmp_path):
    """Two configurations: one normal, and one where nothing varies; labels are text in their order."""
    path = tmp_path / "pilot.csv.gz"
    x = np.random.default_rng(1).normal(100, 5, 40)
    with gzip.open(path, "wt") as stream:
        stream.write(",".join(["freq", "mode", *(f"t{k}" for k in range(1, 41))]) + "\n")
        stream.write(",".join(["007", "readers", *map(str, x)]) + "\n")
        stream.write(",".join(["007", "rewriters", *["3"] * 40]) + "\n")
    return path


def test_a_curve_of_a_known_mixture_is_the_papers():
    found = rows(run("--model", PAPER, "--curve"))
    assert list(found[0]) == ["n", "gamma_0.1", "gamma_0.9"]
    assert [int(row["n"]) for row in found] == [1, 2, 5, 10, 20, 50, 100, 200, 500, 900]
    assert float(found[0]["gamma_0.9"]) == pytest.approx(1.259913, rel=1e-6)
    assert float(found[-1]["gamma_0.1"]) == pytest.approx(1.197729 / -1.143912 / 30, rel=1e-6)


def test_a_centred_curve_tells_the_error_in_standard_deviations_too():
    found = rows(run("--model", "normal:1,100,5", "--curve", "--centred", "--max-n", 10))
    assert list(found[0]) == ["n", "gamma_0.1", "gamma_0.9", "se_sd_0.1", "se_sd_0.9"]
    assert float(found[0]["gamma_0.1"]) < 0 < float(found[0]["se_sd_0.1"])


def test_a_summary_has_a_row_for_every_configuration(pilot):
    result = run(pilot, "--family", "normal", "--components", 1, "--resamples", 5)
    first, second = rows(result)
    assert list(first)[:2] == ["freq", "mode"]
    assert (first["freq"], first["runs"], first["family"], first["n"]) == ("007", "40", "normal", "178")
    assert (first["n_low"], first["n_high"], first["n_fit"], first["target"]) == ("178", "178", "111", "met")
    assert float(first["low_0.1"]) < float(first["quantile_0.1"]) < float(first["high_0.1"])
    assert second["n"] == ""
    assert "nothing varies" in second["note"]
    assert "rewriters: not fitted" in result.stderr
    assert "no finding: 31.6 % at 10, 15.8 % at 40, 8.16 % at 150, 6.32 % at 250" in result.stderr


def test_a_target_beyond_the_largest_n_is_said_to_be(pilot):
    result = run(pilot, "--family", "normal", "--components", 1, "--resamples", 0, "--max-n", 100)
    assert (rows(result)[0]["n"], rows(result)[0]["target"]) == ("100", "not within max-n")
    assert "not within max-n 100: 178 runs would be needed" in result.stderr


def test_n_follows_the_estimator_that_is_named(pilot):
    common = (pilot, "--family", "normal", "--components", 1, "--resamples", 0, "--quantile-from")
    assert [rows(run(*common, estimator))[0]["n"] for estimator in ("fit", "sample")] == ["111", "178"]


def test_a_curve_of_a_file_keeps_the_labels_as_text(pilot, tmp_path):
    out = tmp_path / "curve.csv"
    run(pilot, "--curve", "--max-n", 5, "--family", "normal", "--out", out)
    found = list(csv.DictReader(out.read_text().splitlines()))
    assert list(found[0]) == ["freq", "mode", "n", "gamma_0.1", "gamma_0.9"]
    assert [(row["freq"], row["n"]) for row in found[:3]] == [("007", "1"), ("007", "2"), ("007", "5")]
    assert found[-1]["gamma_0.9"] == ""


def test_json_holds_the_target_and_the_rows():
    result = run("--model", "normal:0.3,100,4;0.7,140,6", "--json")
    told = json.loads(result.stdout)
    assert told["target"]["quantiles"] == [0.1, 0.9]
    assert told["rows"][0]["components"] == 2
    assert told["rows"][0]["runs"] is None


@pytest.mark.parametrize("family", ["normal", "gamma", "weibull", "lognormal", "loglogistic", "frechet"])
def test_every_family_can_be_a_known_mixture(family):
    assert float(rows(run("--model", f"{family}:0.5,2,0.2;0.5,3,0.1", "--curve", "--max-n", 1))[0]["gamma_0.9"]) > 0


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        ((), click.UsageError, "FILE or --model"),
        (("--model", "normal:1,1,1", "--family", "normal"), click.UsageError, "force a fit"),
        (("--model", "normal:1,1,1", "--max-n", "5"), click.UsageError, "at least 30"),
        (("--model", "gamma:1,-1,1"), StudyError, "shape of a gamma"),
        (("--model", "cauchy:1,1,1"), StudyError, "one of normal, gamma"),
        (("--model", "normal:0.5,1,1"), StudyError, "do not sum to 1"),
        (("--model", "normal:1,1,1", "--quantiles", "2"), click.BadParameter, "0 < q < 1"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_line(arguments, error, reason):
    with pytest.raises(error, match=reason):
        raise run(*arguments).exception
