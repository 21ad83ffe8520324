"""`make install` names what this machine's Python lacks, in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "deploy" / "check-python"


def check(python: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([CHECK, python], capture_output=True, text=True, check=False)


def lacking(tmp_path: Path, what: str) -> str:
    """A Python that fails when it is asked for this."""
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\ncase "$2" in *"{what}"*) exit 1 ;; esac\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    return str(program)


def test_this_python_will_do() -> None:
    assert check(sys.executable).returncode == 0


@pytest.mark.parametrize(
    ("what", "line"),
    [("version_info", "Modescope needs 3.11 or later"), ("ensurepip", "apt-get install python3-venv")],
)
def test_what_is_lacking_is_named(tmp_path: Path, what: str, line: str) -> None:
    answer = check(lacking(tmp_path, what))
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    assert line in answer.stderr


def test_a_missing_python_is_named() -> None:
    answer = check("no-such-python")
    assert answer.returncode == 2
    assert answer.stderr.startswith("modescope: no-such-python is missing: install it")
