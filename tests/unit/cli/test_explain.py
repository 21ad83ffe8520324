"""`modescope explain` on files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from orchestrator.cli.samples.explain import of_file
from orchestrator.contracts.errors import TableError


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two configurations of 80 runs on two nodes; the writers of m02 are slow."""
    rng = np.random.default_rng(1)
    lines = ["mode,node,job,order,temperature,throughput"]
    for mode, slow in (("writers", 900.0), ("readers", 1200.0)):
        for run in range(80):
            node = run // 5 % 2
            value = rng.normal(slow if node else 1200.0, 40)
            lines.append(f"{mode},m{node + 1:02},{run // 5},{run},{rng.normal(60, 3):.1f},{value:.3f}")
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_each_configuration_of_a_file_is_explained(runs: Path) -> None:
    told = CliRunner().invoke(of_file, [str(runs), "--labels", "mode"], catch_exceptions=False).output
    assert "writers: between nodes: node m0" in told
    assert "readers: one mode; its runs look independent" in told


def test_the_explanation_of_a_file_is_told_as_json(runs: Path) -> None:
    told = CliRunner().invoke(of_file, [str(runs), "--labels", "mode", "--json"], catch_exceptions=False).stdout
    writers, readers = json.loads(told)
    assert writers["labels"] == {"mode": "writers"}
    assert writers["explanation"]["label"]["where"] == "between nodes"
    assert {one["name"] for one in writers["explanation"]["findings"]} >= {"node", "order of runs", "temperature"}
    assert readers["explanation"]["label"] is None


def test_a_file_without_values_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("node,speed\nm01,3\n")
    with pytest.raises(TableError, match="no column is named 'throughput'"):
        CliRunner().invoke(of_file, [str(path)], catch_exceptions=False)
