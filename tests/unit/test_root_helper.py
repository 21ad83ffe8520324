"""The root helper does what its list allows, below a fake root, and refuses everything else with one line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workers.node.settings.hands import Own
from workers.node.settings.helper import Helped, chosen

HELPER = Path(__file__).parents[2] / "deploy/modescope-root-helper"
GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
DROP = "/proc/sys/vm/drop_caches"


@pytest.fixture(scope="module")
def helper() -> Any:
    """The helper, as a module."""
    loader = SourceFileLoader("modescope_root_helper", str(HELPER))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine with a governor, a page cache, and something that nobody may write."""
    for path, text in ((GOVERNOR, "powersave\n"), (DROP, "0\n"), ("/etc/passwd", "root\n"), ("/sys/power/state", "-")):
        file = tmp_path / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def asked(helper: Any, root: Path, request: object) -> int:
    text = request if isinstance(request, bytes) else json.dumps(request).encode()
    status: int = helper.main(str(root), io.BytesIO(text))
    return status


def contents(root: Path) -> dict[str, str]:
    return {str(file.relative_to(root)): file.read_text() for file in root.rglob("*") if file.is_file()}


@pytest.mark.parametrize(("path", "value"), [(GOVERNOR, "performance"), (DROP, "3")])
def test_what_is_allowed_is_done(helper: Any, root: Path, path: str, value: str) -> None:
    assert asked(helper, root, {"do": "write", "path": path, "value": value}) == 0
    assert (root / path.lstrip("/")).read_text() == value


@pytest.mark.parametrize(
    "request_",
    [
        {"do": "write", "path": "/etc/passwd", "value": "x"},
        {"do": "write", "path": "/sys/power/state", "value": "disk"},
        {"do": "write", "path": f"{GOVERNOR}\n", "value": "performance"},
        {"do": "write", "path": "/sys/devices/system/cpu/cpu0/../../../../../etc/passwd", "value": "x"},
        {"do": "write", "path": "/sys/devices/../../block/sda/queue/scheduler", "value": "none"},
        {"do": "write", "path": GOVERNOR, "value": "a b"},
        {"do": "write", "path": GOVERNOR, "value": "performance\n"},
        {"do": "write", "path": GOVERNOR, "value": ""},
        {"do": "write", "path": GOVERNOR, "value": 1},
        {"do": "write", "path": GOVERNOR, "value": "performance", "mode": "a"},
        {"do": "write", "path": "/sys/devices/system/cpu/cpu7/cpufreq/scaling_governor", "value": "performance"},
        {"do": "trim", "mount_point": "/"},
        {"do": "discard", "name": "raw"},
        {"do": "discard", "name": "/dev/sda"},
        {"do": "discard", "device": "/dev/sda"},
        {"do": "discard", "name": "raw", "device": "/dev/sda"},
        {"do": "run", "path": "/bin/sh", "value": "x"},
        {"do": "write"},
        [],
        b"",
        b"[" * 4000,
        b"{" + b" " * 5000 + b"}",
        b"\xff\xfe",
    ],
)
def test_everything_else_is_refused_with_one_line(
    helper: Any, root: Path, request_: object, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(root)
    assert asked(helper, root, request_) == 1
    assert contents(root) == before
    said = capsys.readouterr().err
    assert said.startswith("modescope-root-helper: ")
    assert said.count("\n") == 1


def test_a_link_out_of_sys_is_not_followed(helper: Any, root: Path) -> None:
    governor = root / GOVERNOR.lstrip("/")
    governor.unlink()
    governor.symlink_to(root / "etc/passwd")
    assert asked(helper, root, {"do": "write", "path": GOVERNOR, "value": "performance"}) == 1
    assert (root / "etc/passwd").read_text() == "root\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(path=st.text(max_size=60), value=st.text(max_size=20))
def test_no_text_writes_anything_else(helper: Any, root: Path, path: str, value: str) -> None:
    before = contents(root)
    assert asked(helper, root, {"do": "write", "path": path, "value": value}) == 1
    assert asked(helper, root, {"do": "write", "path": f"/sys/devices/system/cpu/{path}", "value": value}) == 1
    assert contents(root) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="the list of targets has to be root's")
def test_only_a_mount_point_that_holds_a_named_target_is_trimmed(
    helper: Any, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trimmed = root / "trimmed"
    fstrim = root / "fstrim"
    fstrim.write_text(f'#!/bin/sh\necho "$@" > {trimmed}\n')
    fstrim.chmod(0o755)
    monkeypatch.setattr(helper, "FSTRIM", (str(fstrim),))
    named = root / "etc/modescope/targets"
    named.parent.mkdir(parents=True)
    named.write_text(f"{root}\n")
    mount_point = helper.mount_of(str(root))
    assert asked(helper, root, {"do": "trim", "mount_point": mount_point}) == 0
    assert trimmed.read_text() == f"-- {mount_point}\n"
    assert asked(helper, root, {"do": "trim", "mount_point": "/proc"}) == 1
    named.chmod(0o666)
    assert asked(helper, root, {"do": "trim", "mount_point": mount_point}) == 1
    assert "is not root's alone to write" in capsys.readouterr().err


def test_an_argument_is_refused() -> None:
    done = subprocess.run([sys.executable, "-I", HELPER, "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_the_sudoers_file_allows_one_command_without_arguments() -> None:
    text = (HELPER.parent / "modescope.sudoers").read_text()
    rules = [line for line in text.splitlines() if line and not line.startswith(("#", "Defaults"))]
    assert rules == ['modescope ALL=(root) NOPASSWD: /usr/local/sbin/modescope-root-helper ""']


def test_root_needs_no_helper_and_others_ask_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    installed = tmp_path / "helper"
    assert isinstance(chosen(installed), Own)
    installed.touch()
    assert isinstance(chosen(installed), Helped)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert isinstance(chosen(installed), Own)


def test_what_the_helper_refuses_is_an_error_with_its_line(root: Path) -> None:
    helped = Helped((sys.executable, "-I", str(HELPER)))
    with pytest.raises(PermissionError, match="this file is not written: '/etc/passwd'"):
        helped.write(Path("/etc/passwd"), "x")
