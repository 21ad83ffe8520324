"""Change files of the system so that what was found can be put back, also after a crash (DESIGN 10)."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One file of /sys or /proc, what it held, and what was put there."""

    path: str
    earlier: str
    value: str


class Changes:
    """What was changed on this node and not put back yet, in a file that is on the disk before each change is made."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "changes.json"

    def make(self, path: Path, value: str) -> None:
        """Write `value` to `path`, unless it is there already. Raises JobFailure (study) when that cannot be done."""
        try:
            earlier = path.read_text().strip()
            if earlier == value:
                return
            self._keep([*self._made(), Change(path=str(path), earlier=earlier, value=value)])
            path.write_text(value)
            now = path.read_text().strip()
        except OSError as problem:
            raise JobFailure(FailureKind.STUDY, f"{path}: cannot be set to {value}: {problem.strerror}") from problem
        if now != value:
            raise JobFailure(FailureKind.STUDY, f"{path}: was set to {value}, but reads {now}")

    def restore(self) -> list[str]:
        """Put back exactly what was found, the last change first; what could not be put back, a line each.

        A file that holds neither of our two values was changed by somebody else meanwhile: it is left, and reported.
        """
        problems = [problem for change in reversed(self._made()) if (problem := _undo(change)) is not None]
        self._path.unlink(missing_ok=True)
        return problems

    def _made(self) -> list[Change]:
        try:
            return [Change(**record) for record in json.loads(self._path.read_text())]
        except FileNotFoundError:
            return []

    def _keep(self, changes: list[Change]) -> None:
        fresh = self._path.with_suffix(".new")
        with fresh.open("w") as file:
            json.dump([asdict(change) for change in changes], file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def _undo(change: Change) -> str | None:
    path = Path(change.path)
    try:
        now = path.read_text().strip()
        if now == change.value:
            path.write_text(change.earlier)
        elif now != change.earlier:
            return f"{path}: somebody else set it to {now}; left as it is (it held {change.earlier} before)"
    except OSError as problem:
        return f"{path}: cannot be put back to {change.earlier}: {problem.strerror}"
    return None
