"""`modescope logs evaluate` and `predict`: a table of jobs in, scores or predictions out."""

import csv
import gzip
import json
from datetime import UTC, datetime

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("sklearn")

from analysis.log_prediction import trees
from analysis.log_prediction.published import regressors
from analysis.log_prediction.timeline import timeline
from orchestrator.cli.logs.commands import logs
from orchestrator.contracts.errors import TableError
from orchestrator.job_logs.jobs import Columns, jobs_of
from orchestrator.job_logs.table import read_jobs_table
from tests.unit.analysis.made_jobs import made_jobs

HEADER = (
    "_file_system,darshan_app,darshan_nprocs,darshan_start_time,darshan_end_time,darshan_agg_perf_by_slowest_posix,"
    "darshan_biggest_read_api_bytes,darshan_biggest_write_api_bytes,darshan_biggest_read_api_files,"
    "darshan_biggest_write_api_files,fs_ave_oss_cpu,fs_planted,darshan_tot_bytes_written_posix"
)


def lines(n=200):
    jobs = made_jobs(n)
    for place in range(n):
        reads = jobs.directions[place] == "read"
        files = 64 if jobs.keys[place][2] == "per process" else 1
        cells = [
            jobs.file_systems[place], f"/bin/{jobs.keys[place][1]}", 64, jobs.start_s[place], jobs.end_s[place],
            jobs.throughput[place], 9e9 if reads else 10, 10 if reads else 9e9, files if reads else 1,
            1 if reads else files, jobs.measured[place, 1], jobs.throughput[place], jobs.measured[place, 0],
        ]  # fmt: skip
        yield ",".join(map(str, cells))


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(trees, "TREES", 20)
    monkeypatch.setattr(regressors, "available", lambda: ("linear", "kNN"))


@pytest.fixture
def table(tmp_path):
    """As TOKIO-ABC writes them: rows begin with an index that the header does not name."""
    path = tmp_path / "jobs.csv.gz"
    with gzip.open(path, "wt") as stream:
        stream.write("\n".join([HEADER, *(f"{place},{line}" for place, line in enumerate(lines()))]) + "\n")
    return path


def run(*arguments):
    return CliRunner().invoke(logs, [str(a) for a in arguments], standalone_mode=False)


def told(result):
    assert result.exception is None, result.exception
    return json.loads(result.stdout)


def test_json_is_by_direction_file_system_and_model(table):
    found = told(run("evaluate", table, "--json"))
    assert set(found) == {"read", "write"}
    assert set(found["write"]) == {"all", "fs1"}
    assert set(found["write"]["fs1"]) == {"history", "key_mean", "last_run", "paper", "best"}
    assert set(found["write"]["fs1"]["best"]) == {"r2", "r2_log", "within_r2", "n", "coverage90"}
    assert found["read"]["all"]["best"]["n"] == 40


def test_one_procedure_can_be_left_out(table):
    assert "paper" not in told(run("evaluate", table, "--procedure", "best", "--json"))["read"]["all"]
    assert "best" not in told(run("evaluate", table, "--procedure", "paper", "--json"))["read"]["all"]


def test_a_planted_leak_is_no_help(table):
    found = told(run("evaluate", table, "--json", "--procedure", "best"))
    assert found["write"]["all"]["best"]["within_r2"] < 0.9  # 1.0 with it


def test_the_terminal_shows_the_history_beside_every_model(table):
    shown = run("evaluate", table).stdout
    assert "history" in shown
    assert "best, write" in shown


def test_predictions_of_the_tested_jobs_can_be_written(table, tmp_path):
    out = tmp_path / "out.csv"
    assert run("evaluate", table, "--procedure", "best", "--out", out).exception is None
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 80
    assert float(rows[0]["best_low90"]) < float(rows[0]["best"]) < float(rows[0]["best_high90"])


def test_the_key_is_told_by_the_columns_of_the_table(table):
    jobs = jobs_of(read_jobs_table(table), Columns()).jobs
    assert set(jobs.keys) == {
        ("write", "ior", "shared", "64 processes", "fs1"),
        ("write", "hacc", "per process", "64 processes", "fs1"),
        ("read", "ior", "shared", "64 processes", "fs1"),
        ("read", "hacc", "per process", "64 processes", "fs1"),
    }
    assert "darshan_agg_perf_by_slowest_posix" not in jobs.measured_names
    assert jobs.declared_names == ("darshan_nprocs",)


def test_a_key_of_ones_own(table):
    jobs = jobs_of(read_jobs_table(table), Columns(key=("darshan_app", "_file_system"))).jobs
    assert jobs.keys[0] == ("write", "/bin/ior", "fs1")
    assert "read" in told(run("evaluate", table, "--key", "darshan_app", "--procedure", "best", "--json"))


def test_times_may_be_written_as_iso_8601(tmp_path):
    path = tmp_path / "iso.csv"
    rows = []
    for line in lines(60):
        cells = line.split(",")
        cells[3:5] = [datetime.fromtimestamp(float(cell), UTC).isoformat() for cell in cells[3:5]]
        rows.append(",".join(cells))
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    assert jobs_of(read_jobs_table(path), Columns()).jobs.start_s[0] == 1.5e9


def test_rows_without_throughput_are_left_out_and_told(table, tmp_path):
    path = tmp_path / "gaps.csv"
    rows = list(lines(60))
    rows[7] = rows[7].replace(rows[7].split(",")[5], "", 1)
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    chosen = jobs_of(read_jobs_table(path), Columns())
    assert (len(chosen.jobs), chosen.without_throughput) == (59, 1)


def test_a_job_whose_end_is_told_to_be_before_its_start_is_not_known_to_itself(tmp_path):
    path = tmp_path / "clocks.csv"
    rows = [line.split(",") for line in lines(60)]
    rows[20][4] = str(float(rows[20][3]) - 3600)
    path.write_text("\n".join([HEADER, *(",".join(row) for row in rows)]) + "\n")
    jobs = jobs_of(read_jobs_table(path), Columns()).jobs
    assert jobs.end_s[20] == jobs.start_s[20]
    assert all(place not in [one for one, _, _ in ended] for place, _, ended in timeline(jobs))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--target", "nonsense"), "nonsense"),
        (("--time", "darshan_app"), "is not a time"),
        (("--key", "nothing"), "nothing"),
    ],
)
def test_a_wrong_column_is_one_line_that_names_it(table, arguments, named):
    result = run("evaluate", table, *arguments)
    assert isinstance(result.exception, TableError)
    assert named in str(result.exception)


def test_a_table_without_usual_names_is_told_which_options_help(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    result = run("evaluate", path)
    assert "--time" in str(result.exception)


def test_jobs_that_are_asked_about_are_predicted_in_their_order(table, tmp_path):
    asked = tmp_path / "asked.csv"
    later = 1.5e9 + 60 * 86400
    asked.write_text(
        "_file_system,darshan_app,darshan_nprocs,darshan_start_time,Direction\n"
        f"fs1,hacc,64,{later + 9},write\nfs1,never,64,{later},read\n"
    )
    table_with = tmp_path / "with.csv"
    rows = [line + ("," + ("read" if place % 4 > 1 else "write")) for place, line in enumerate(lines())]
    table_with.write_text("\n".join([HEADER + ",Direction", *rows]) + "\n")
    result = run("predict", table_with, "--jobs", asked)
    assert result.exception is None, result.exception
    first, second = csv.DictReader(result.stdout.splitlines())
    assert (first["row"], first["program"], second["program"]) == ("2", "hacc", "never")
    assert float(first["low90"]) < float(first["predicted"]) < float(first["high90"])
    assert (second["key_parts_given_up"], int(second["runs_before"]) > 40) == ("4", True)


def test_nothing_that_is_said_of_the_future_changes_a_prediction(table, tmp_path):
    """The rows of a table whose throughput is empty: whatever else stands in them is not looked at."""
    found = []
    for planted in ("1", "1e9"):
        path = tmp_path / f"planted{planted}.csv"
        rows = list(lines())
        cells = rows[-1].split(",")
        cells[5], cells[10], cells[11], cells[12] = "", planted, planted, planted
        path.write_text("\n".join([HEADER, *rows[:-1], ",".join(cells)]) + "\n")
        found.append(told(run("predict", path, "--json")))
    assert found[0] == found[1]
    assert np.isfinite(found[0][0]["predicted"])
