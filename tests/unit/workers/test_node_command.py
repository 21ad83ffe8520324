"""`modescope node`: two halves, one group; what is said about this machine."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from orchestrator.cli.service import node as group
from orchestrator.contracts.errors import ConflictError, StudyError
from orchestrator.contracts.preparation import Preparation, Switch
from tests.unit.workers.machines import VM, XEON, unpack
from workers.cli import node as commands
from workers.node import check, lock
from workers.node.inventory import Inventory
from workers.node.restore import Changes
from workers.node.settings.steps import Write


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODESCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "home/target").mkdir(parents=True)
    return tmp_path / "home"


def study(tmp_path: Path, text: str) -> str:
    path = tmp_path / "study.yaml"
    path.write_text(text)
    return str(path)


def invoke(command: click.Command, *words: str) -> str:
    return CliRunner().invoke(command, words, catch_exceptions=False, standalone_mode=False).stdout


def test_the_group_has_both_halves_and_tells_of_each() -> None:
    brought = {found.name for found in entry_points(group=group.COMMAND_GROUP)}
    assert brought == {"check", "facts", "prepare", "restore"}
    context = click.Context(group.node)
    assert group.node.list_commands(context) == sorted(group.SHORT_HELPS)
    for name, told in group.SHORT_HELPS.items():
        command = group.node.get_command(context, name)
        assert command is not None
        assert command.get_short_help_str(limit=300).startswith(told.rstrip("."))


def test_facts_are_told_as_json(home: Path) -> None:
    told = json.loads(invoke(commands.facts, "--json"))
    assert told["processor"]["cpus"] > 0
    assert told["benchmarks"]["builtin"]
    assert home.exists()


def test_a_dry_run_names_every_step_and_the_reason_for_its_place(home: Path, tmp_path: Path) -> None:
    path = study(tmp_path, "name: x\nnode: {turbo: off, sync: never}\n")
    told = invoke(commands.prepare, "--dry-run", path)
    assert "turbo: (it moves the highest frequency that a CPU offers)" in told
    assert "sync: (" in told
    assert "  nothing: the study leaves it as it is" in told
    assert not (home / "nodes").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [("node: {turbo: maybe}", "node.turbo"), ("- a list", "no study"), ("{", "cannot be read as YAML")],
)
def test_a_study_that_is_none_is_refused(home: Path, tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(StudyError) as raised:
        invoke(commands.check, study(tmp_path, text))
    assert said in str(raised.value)
    assert home.exists()


def test_restore_puts_back_what_a_journal_tells_of(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "governor"
    file.write_text("powersave\n")
    state = home / "nodes/n1"
    state.mkdir(parents=True)
    Changes(state).make([Write(setting="governor", path=file, value="performance")])
    assert "as it was found" in invoke(commands.restore, "--node", "n1")
    assert file.read_text() == "powersave"


def test_nobody_restores_under_a_running_agent(home: Path) -> None:
    with lock.hold(home / "nodes/n1"), pytest.raises(ConflictError, match="another agent"):
        invoke(commands.restore, "--node", "n1")


def found(root: Path, home: Path, preparation: Preparation | None = None) -> str:
    inventory = Inventory(targets={"default": home / "target"}, reserve_kb=0)
    return "\n".join(check.findings(home, inventory, preparation or Preparation(), root))


def test_a_spool_on_the_targets_device_is_found(home: Path, tmp_path: Path) -> None:
    assert "the spool in" in found(unpack(XEON, tmp_path / "root"), home)


def test_turbo_that_is_on_is_found_and_what_the_study_cannot_have(home: Path, tmp_path: Path) -> None:
    assert "turbo is on" in found(unpack(XEON, tmp_path / "xeon"), home)
    told = found(unpack(VM, tmp_path / "vm"), home, Preparation(turbo=Switch.OFF))
    assert "`node: {turbo: as_is}` runs the study all the same" in told
    assert "no cpufreq" in told
    assert "kernel's log cannot be read" in told


def test_swap_in_use_and_a_missing_target_are_found(home: Path, tmp_path: Path) -> None:
    root = unpack(VM, tmp_path / "root")
    (root / "proc/meminfo").write_text("MemTotal: 9 kB\nSwapTotal: 100 kB\nSwapFree: 0 kB\n")
    (home / "target").rmdir()
    told = found(root, home)
    assert "swap is in use" in told
    assert "is missing" in told
