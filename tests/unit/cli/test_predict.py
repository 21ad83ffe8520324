"""`modescope predict` on a small table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("sklearn")

from orchestrator.cli.predictions.predict import predict


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, path = np.random.default_rng(1), tmp_path_factory.mktemp("predict") / "runs.csv"
    lines = ["size,threads,engine,t1,t2,t3,t4,t5,t6,t7,t8"]
    for size in ("4", "16", "064", "256"):
        for threads in ("1", "2", "4", "8"):
            values = float(size) * float(threads) * np.exp(0.1 * rng.standard_normal(8))
            lines.append(",".join([size, threads, "x", *(f"{value:.3f}" for value in values)]))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_row_is_written_for_each_row_asked_with_its_labels_as_text(measured: Path, tmp_path: Path) -> None:
    points, out = tmp_path / "points.csv", tmp_path / "q.csv"
    points.write_text("threads,size\n3,064\n16,4\n3,064\n")
    result = CliRunner().invoke(
        predict, [str(measured), "--at", str(points), "--out", str(out), "--bands", "--mixtures", "--json"]
    )
    assert result.exit_code == 0, result.exception
    with out.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["size"], row["threads"], row["engine"]) for row in rows] == [
        ("064", "3", "x"),
        ("4", "16", "x"),
        ("064", "3", "x"),
    ]
    assert [row["extrapolated"] for row in rows] == ["false", "true", "false"]
    assert rows[0] == rows[2]
    assert all(0 <= float(row["p_multimodal"]) <= 1 for row in rows)
    quantiles = [float(rows[0][f"q{level:02d}"]) for level in range(1, 100)]
    assert quantiles == sorted(quantiles)
    assert list(rows[0])[3:104] == [*(f"q{level:02d}" for level in range(1, 100)), "p_multimodal", "extrapolated"]
    assert float(rows[0]["q50_low"]) <= float(rows[0]["q50"]) <= float(rows[0]["q50_high"])
    assert sum(float(weight) for weight in rows[0]["weights"].split()) == pytest.approx(1, abs=1e-4)
    assert json.loads(result.stdout)["rows"][1]["size"] == "4"


def test_an_evaluation_tells_distances_beside_those_of_baselines(measured: Path) -> None:
    result = CliRunner().invoke(predict, [str(measured), "--evaluate", "train-share=0.8", "--json", "--processes", "1"])
    told = json.loads(result.stdout)
    assert told["all"]["n"] == 3
    assert 0 < told["all"]["ks"] < told["all"]["ks_nearest"]


def test_a_column_that_is_missing_is_named(measured: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text("threads\n3\n")
    result = CliRunner().invoke(predict, [str(measured), "--at", str(points)])
    assert "no column is named 'size'" in str(result.exception)


def test_points_or_an_evaluation_are_asked_for(measured: Path) -> None:
    assert "either --at or --evaluate" in CliRunner().invoke(predict, [str(measured)]).stderr


def test_a_factor_that_is_not_there_is_told_at_once(measured: Path) -> None:
    result = CliRunner().invoke(predict, [str(measured), "--evaluate", "leave=depth"])
    assert "leave=depth: no label column has that name; they are size, threads, engine" in str(result.exception)
