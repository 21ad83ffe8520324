"""`modescope design`: check and expand, from a preset or a file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from orchestrator.cli.campaigns.design import design
from orchestrator.contracts.errors import StudyError


def run(*arguments: str) -> str:
    result = CliRunner().invoke(design, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_check_prints_counts_duration_and_a_picture() -> None:
    output = run("check", "xu2020", "--nodes", "12")
    for piece in ("4,080", "22,734", "612,000", "61,200", "on each of 12 nodes", "█ 54 configurations"):
        assert piece in output


def test_check_prints_json() -> None:
    found = json.loads(run("check", "demo", "--json", "--here"))
    assert (found["settings"], found["configurations"], found["invocations"]) == (12, 72, 1800)
    assert "here" in found


def test_check_warns_below_five_jobs_a_setting(tmp_path: Path) -> None:
    (tmp_path / "few.yaml").write_text(
        "name: few\ndesign:\n  blocks: [{levels: {threads: 1, file_size_kb: 64, record_size_kb: 4}}]\n"
        "replicates: 20\nreplicates_per_job: 10\nengine: builtin\n"
    )
    assert "warning: 2 jobs a setting, fewer than 5" in run("check", str(tmp_path / "few.yaml"))


def test_expand_prints_a_configuration_a_row_without_controls() -> None:
    header, *rows = csv.reader(run("expand", "demo", "--format", "csv").splitlines())
    assert header == ["file_size_kb", "record_size_kb", "threads", "mode"]
    assert rows[0] == ["64", "16", "1", "initial_writers"]
    assert len(rows) == 72


def test_expand_writes_a_file(tmp_path: Path) -> None:
    out = tmp_path / "xu2020.csv"
    assert run("expand", "xu2020", "--out", str(out)) == ""
    assert len(out.read_text().splitlines()) == 22_735


def test_a_mistake_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("nam: bad")
    with pytest.raises(StudyError, match=r"bad.yaml: unknown key 'nam'; did you mean 'name'\?"):
        run("check", str(tmp_path / "bad.yaml"))
