"""`modescope service-rate`: a trace in, a row an estimate out."""

import csv
import gzip
import json

import numpy as np
import pytest
from click.testing import CliRunner

from orchestrator.cli.samples.service_rate import service_rate
from orchestrator.contracts.errors import TableError


@pytest.fixture
def trace(tmp_path):
    rng = np.random.default_rng(1)
    count, blocked = rng.poisson(40, 1500), rng.random(1500) < 0.3
    path = tmp_path / "trace.csv.gz"
    with gzip.open(path, "wt") as stream:
        stream.write("time_s,count,blocked\n")
        stream.writelines(f"{0.1 * k:.1f},{c},{int(b)}\n" for k, (c, b) in enumerate(zip(count, blocked, strict=True)))
    return path


def run(*arguments):
    return CliRunner().invoke(service_rate, [str(a) for a in arguments], standalone_mode=False)


def test_a_row_for_every_estimate(trace):
    result = run(trace)
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert list(rows[0]) == ["time_s", "rate", "low", "high", "rate_published"]
    assert all(380 < float(row["rate"]) < 420 for row in rows)
    assert all(float(row["low"]) < float(row["rate"]) < float(row["high"]) for row in rows)


def test_json_holds_everything_on_one_line(trace):
    told = json.loads(run(trace, "--json").stdout)
    assert told["basis"] == "counts"
    assert told["period_s"] == pytest.approx(0.1)
    assert {one["outcome"] for one in told["outcomes"]} == {"estimate"}
    assert told["outcomes"][0]["shape"] == "exponential"


def test_no_estimate_is_a_header_and_a_reason(tmp_path):
    path = tmp_path / "short.csv"
    path.write_text("time_s,count,blocked\n1,5,0\n2,6,0\n3,1,1\n")
    result = run(path)
    assert result.stdout == "time_s,rate,low,high,rate_published\n"
    assert "no estimate at 3 s: 2 unblocked periods (33 % were blocked) were too few" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time_s,count\n1,2\n", "no column is named 'blocked'"),
        ("time_s,count,blocked\n1,2,0\n2,x,0\n", "row 3, column 'count': 'x' is not a finite number"),
        ("time_s,count,blocked\n1,2,0\n2,2,7\n", "column 'blocked' is 0 or 1, not 7"),
        ("time_s,count,blocked\n2,2,0\n1,2,0\n", "ascending"),
        ("time_s,count,blocked\n1,-2,0\n2,2,0\n", "at least 0"),
        ("time_s,count,blocked\n", "at least 2 periods, not 0"),
        ("", "the file is empty"),
    ],
)
def test_a_bad_trace_is_one_line(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    result = run(path)
    assert isinstance(result.exception, TableError)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)
