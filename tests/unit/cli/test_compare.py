"""`modescope compare` on files: a row per configuration, a summary, one line for what is wrong."""

import csv
import json

import click
import numpy as np
import pytest
from click.testing import CliRunner

from orchestrator.cli.samples import compare as command
from orchestrator.contracts.errors import TableError


def write(path, labels, rows):
    with path.open("w", newline="") as stream:
        header = (*labels, *(f"t{i}" for i in range(1, len(rows[0]) - len(labels) + 1)))
        csv.writer(stream).writerows([header, *rows])
    return path


@pytest.fixture
def before(tmp_path):
    rng = np.random.default_rng(1)
    rows = [("01", mode, *rng.normal(1000, 20, 60)) for mode in ("readers", "rewriters", "re-readers")]
    return write(tmp_path / "before.csv", ("threads", "mode"), rows)


@pytest.fixture
def after(tmp_path):
    """Columns in another order; readers fell, rewriters have two modes, one configuration is new."""
    rng = np.random.default_rng(2)
    two = np.where(rng.random(60) < 0.4, rng.normal(700, 10, 60), rng.normal(1000, 10, 60))
    rows = [
        ("readers", "01", *rng.normal(950, 20, 60)),
        ("rewriters", "01", *two),
        ("readers", "02", *rng.normal(5, 1, 60)),
    ]
    return write(tmp_path / "after.csv", ("mode", "threads"), rows)


def run(*arguments):
    return CliRunner().invoke(command.compare, [str(a) for a in arguments], standalone_mode=False)


def test_a_row_for_each_configuration_that_both_have(before, after, tmp_path):
    result = run(before, after, "--no-verdicts", "--out", tmp_path / "out.csv", "--quantiles", "0.5,0.9")
    assert result.exception is None
    with (tmp_path / "out.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["threads"], row["mode"]) for row in rows] == [("01", "readers"), ("01", "rewriters")]
    assert tuple(rows[0])[:13] == (
        *("threads", "mode", "n_a", "n_b", "verdict_a", "verdict_b"),
        *("a_0.5", "b_0.5", "shift_0.5", "low_0.5", "high_0.5", "p_0.5", "fdr_0.5"),
    )
    assert tuple(rows[0])[-4:] == ("wasserstein", "ks", "ks_p", "ks_fdr")
    assert float(rows[0]["low_0.5"]) < float(rows[0]["shift_0.5"]) < float(rows[0]["high_0.5"]) < 0


def test_what_changed_is_told_with_what_only_one_side_has(before, after):
    said = run(before, after)
    assert "2 of 2 configurations have another distribution" in said.output
    assert "unimodal → multimodal" in said.output
    assert "only A has: 1 configurations, such as 01 re-readers" in said.output
    assert "only B has: 1 configurations, such as 02 readers" in said.output


def test_json_holds_every_figure(before, after):
    found = json.loads(run(before, after, "--no-verdicts", "--json").stdout)
    assert (found["compared"], found["changed"]) == (2, 2)
    assert found["configurations"][0]["moved"] == [0.1, 0.5, 0.9]
    assert set(found["configurations"][0]["false_discovery"]) == {"ks", "shifts"}


def test_files_that_cannot_be_matched_are_refused(before, tmp_path):
    other = write(tmp_path / "other.csv", ("threads", "mode"), [("16", "readers", *range(20))])
    with pytest.raises(TableError, match="no configuration in common"):
        raise run(before, other, "--no-verdicts").exception
    few = write(tmp_path / "few.csv", ("threads", "mode"), [("16", "readers", 1, 2, 3)])
    with pytest.raises(TableError, match="no configuration has 5 runs on both sides"):
        raise run(few, few, "--no-verdicts").exception
    renamed = write(tmp_path / "renamed.csv", ("cpus", "mode"), [("1", "readers", *range(20))])
    with pytest.raises(TableError, match=r"different labels \(threads, mode and cpus, mode\)"):
        raise run(before, renamed, "--no-verdicts").exception
    assert isinstance(run(before, before, "--quantiles", "2").exception, click.BadParameter)
