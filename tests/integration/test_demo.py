"""`modescope demo` with every real part: from study to report, and nothing left behind, also after Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.cli.campaigns import demonstration
from orchestrator.contracts.campaigns import State
from orchestrator.contracts.confirmations import Outcome
from orchestrator.contracts.errors import MissingPartError
from orchestrator.design.study import load
from orchestrator.embedded import journal
from orchestrator.embedded.home import SYSTEM_DATA

DEMO = (sys.executable, "-m", "orchestrator.cli.main", "demo")
SMALL = """
name: small demo
design:
  blocks:
    - levels: {file_size_kb: [64], record_size_kb: [16], threads: [1]}
      modes: [initial_writers, readers]
replicates: 40
engine: builtin
controls:
  bimodal: {mixture: "normal:0.65,900000,30000;0.35,1200000,40000", seed: 7}
"""


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the demo makes its temporary home."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield tmp_path
    for left in tmp_path.glob("*/children.json"):
        journal.end_leftovers(left)


def test_the_demo_goes_from_study_to_report_and_leaves_only_that(
    scratch: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp("out") / "report.html"
    said: list[str] = []

    shown = demonstration.run(load(SMALL, where="small"), home=None, out=out, console=None, say=said.append)

    assert shown.complete
    assert shown.campaign.campaign.state is State.COMPLETE
    assert shown.campaign.valid_runs == 80
    control = next(pair for pair in shown.repeated if pair.first.control == "bimodal")
    assert control.held
    assert control.again.confirmation is not None, said
    # What was measured beside it decides which draws its judgement is based on; one in twenty places the modes apart.
    assert control.again.confirmation.outcome in {Outcome.CONFIRMED, Outcome.CHANGED}
    assert any(f"{control.again.confirmation.outcome}: bimodal (synthetic control)" in line for line in said), said
    assert "synthetic control" in out.read_text()
    assert nothing_left(scratch)


def test_ctrl_c_stops_every_process_and_leaves_nothing(scratch: Path) -> None:
    with subprocess.Popen(
        [*DEMO, "--out", os.devnull], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as demo:
        assert demo.stdout is not None
        assert any(line.startswith("campaign 1 running") for line in demo.stdout), "the demo ended by itself"
        (journal_path,) = scratch.glob("*/children.json")
        children = [child["process"]["pid"] for child in json.loads(journal_path.read_text())["children"]]

        demo.send_signal(signal.SIGINT)
        _, err = demo.communicate()

    assert demo.returncode == 130
    assert err.strip() == "modescope: interrupted"
    assert len(children) == 6
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]
    assert nothing_left(scratch)


def test_without_iozone_one_line_names_it(scratch: Path) -> None:
    environment = {**os.environ, "PATH": str(scratch)}
    ended = subprocess.run([*DEMO, "--engine", "iozone"], env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "deploy/install-iozone" in ended.stderr


def test_a_report_that_could_not_be_written_is_refused_before_anything_starts(scratch: Path) -> None:
    ended = subprocess.run([*DEMO, "--out", "/no/such/folder/x.html"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("compiler", [True, False])
def test_the_iozone_study_fits_the_machine(scratch: Path, monkeypatch: pytest.MonkeyPatch, *, compiler: bool) -> None:
    for name in ["iozone", *(["cc"] if compiler else [])]:
        (scratch / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(scratch))

    study, notice = demonstration.study_for("iozone")

    options = study.as_dict()["engine"]
    assert (options["name"], study.replicates) == ("iozone", 30)
    assert options["settle_s"] == (0.0 if compiler else None)
    assert bool(notice) is not compiler


def test_iozone_is_asked_for_by_name(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(scratch))
    with pytest.raises(MissingPartError, match="iozone"):
        demonstration.study_for("iozone")


def nothing_left(scratch: Path) -> bool:
    """Neither in the scratch folder nor where root's database is."""
    homes = [Path(home.read_text().strip()) for home in SYSTEM_DATA.glob("modescope-*/home")]
    return not list(scratch.glob("modescope-demo-*")) and not [home for home in homes if home.is_relative_to(scratch)]
