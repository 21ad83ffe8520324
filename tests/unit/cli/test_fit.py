"""`modescope fit`: CSV in, CSV out."""

import csv

import click
import numpy as np
import pytest
from click.testing import CliRunner

from orchestrator.cli.samples import fit as command
from orchestrator.contracts.errors import TableError

SUMMARY = (
    *("freq", "mode", "n", "n_distinct", "components", "family", "bic", "loglik", "density_modes", "bic_gap"),
    *("dip_p", "dip_q", "verdict", "likelihood", "resolution", "floor_active", "weights", "locations", "scales"),
)


@pytest.fixture
def runs(tmp_path):
    """Three configurations: two peaks, one, and nothing that varies."""
    rng = np.random.default_rng(3)
    two = 1e6 * np.where(rng.random(100) < 0.4, rng.normal(4, 0.1, 100), rng.normal(5, 0.1, 100))
    rows = [("1200", "read", *two), ("2400", "read", *rng.normal(5e6, 3e5, 100)), ("2400", "write", *[3] * 100)]
    path = tmp_path / "runs.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("freq", "mode", *(f"t{i}" for i in range(1, 101))), *rows])
    return path


def run(*arguments):
    return CliRunner().invoke(command.fit, [str(a) for a in arguments], standalone_mode=False)


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_one_row_for_one_configuration(runs, tmp_path):
    result = run(runs, "--out", tmp_path / "out.csv", "--families", "normal,lognormal", "--max-components", 3)
    assert result.return_value == 0
    rows = rows_of(tmp_path / "out.csv")
    assert tuple(rows[0]) == SUMMARY
    assert [row["verdict"] for row in rows] == ["multimodal", "unimodal", "undecided"]
    assert [row["freq"] for row in rows] == ["1200", "2400", "2400"]
    assert rows[0]["components"] == "2"
    assert len(rows[0]["weights"].split(";")) == 2
    assert (rows[2]["n"], rows[2]["n_distinct"], rows[2]["family"]) == ("100", "1", "")
    assert "1200 read: two peaks at 3.99 and 5" in result.stderr
    assert "2400 write: not fitted: all 100 values are 3" in result.stderr


def test_the_table_holds_every_fit_and_its_numbers_are_the_summarys(runs, tmp_path):
    run(runs, "--out", tmp_path / "out.csv", "--table", tmp_path / "table.csv", "--max-components", 2)
    table, rows = rows_of(tmp_path / "table.csv"), rows_of(tmp_path / "out.csv")
    columns = "freq,mode,components,family,loglik,bic,converged,floor_active,weights,locations,scales"
    assert list(table[0]) == columns.split(",")
    assert len(table) == 2 * 12
    best = min(table[:12], key=lambda row: float(row["bic"]))
    assert {name: best[name] for name in ("family", "bic", "weights")} == {
        name: rows[0][name] for name in ("family", "bic", "weights")
    }


def test_without_out_the_rows_go_to_stdout(runs):
    result = run(runs, "--families", "normal", "--max-components", 1)
    assert result.stdout.splitlines()[0].split(",") == list(SUMMARY)
    assert len(result.stdout.splitlines()) == 4


def test_processes_change_nothing(runs, tmp_path):
    for processes in (1, 2):
        run(runs, "--out", tmp_path / f"{processes}.csv", "--processes", processes, "--max-components", 2)
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


def test_ctrl_c_keeps_the_finished_rows(runs, tmp_path, monkeypatch):
    select_each = command.select_each
    monkeypatch.setattr(command, "select_each", lambda samples, **rest: interrupted_once(select_each, samples, **rest))
    result = run(runs, "--out", tmp_path / "out.csv", "--max-components", 2)
    assert result.return_value == 130
    assert [row["verdict"] for row in rows_of(tmp_path / "out.csv")] == ["multimodal"]
    assert "1 of 3 configurations are finished" in result.stderr


def interrupted_once(select_each, samples, **rest):
    yield from select_each(samples[:1], **rest)
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--families", "normal,gama"), "did you mean 'gamma'"),
        (("--floor", "2"), "between 0 and 1"),
        (("--max-components", "9"), "from 1 to 5"),
        (("--labels", "node"), "no column is named 'node'"),
    ],
)
def test_mistakes_are_told_before_anything_is_fitted(runs, arguments, reason):
    result = run(runs, *arguments)
    assert reason in str(result.exception)


def test_a_malformed_file_names_row_and_column(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("freq,t1,t2\n1,2,x\n")
    result = run(path)
    assert isinstance(result.exception, TableError)
    assert str(result.exception) == f"{path}: row 2, column 't2': 'x' is not a finite number"


def test_an_output_that_cannot_be_written_is_told_first(runs, tmp_path):
    result = run(runs, "--out", tmp_path / "absent" / "out.csv")
    assert "cannot be written" in str(result.exception)


def test_it_is_a_click_command():
    assert isinstance(command.fit, click.Command)


def test_a_notice_is_told(tmp_path):
    path = tmp_path / "runs.csv"
    values = np.random.default_rng(0).normal(0, 1, 50)
    path.write_text("throughput\n" + "\n".join(map(str, values)) + "\n")
    result = run(path)
    assert "only the normal family was fitted" in result.stderr
