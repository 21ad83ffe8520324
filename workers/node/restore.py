"""Change files of the system so that what was found can be put back, also after a crash (DESIGN 10)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind
from workers.node.facts import files
from workers.node.settings import helper
from workers.node.settings.hands import Hands
from workers.node.settings.steps import Write


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One file of /sys or /proc, what it held, and what was put there."""

    path: str
    earlier: str
    value: str | None
    """None: the kernel changes it along with another one, and what to is not known yet."""


class Changes:
    """What was changed on this node and not put back yet, in a file that is on the disk before each change is made."""

    def __init__(self, folder: Path, hands: Hands | None = None) -> None:
        self._path = folder / "changes.json"
        self._hands = helper.chosen() if hands is None else hands

    def make(self, writes: Iterable[Write]) -> None:
        """Write down what all these files hold, then change them. Raises JobFailure (study) when one cannot be."""
        changes = [change for write in writes for change in self._planned(write)]
        if not changes:
            return
        made = self._made()
        self._keep([*made, *changes])
        for change in changes:
            self._do(change)
        if any(change.value is None for change in changes):
            self._keep([*made, *(change for change in map(_known, changes) if change.value != change.earlier)])

    def restore(self) -> list[str]:
        """Put back exactly what was found, the last change first; what could not be put back, a line each.

        A file that holds neither of our two values was changed by somebody else meanwhile: it is left, and reported.
        What the system refuses stays in the journal for the next start.
        """
        try:
            made = self._made()
        except (ValueError, TypeError, KeyError):
            broken = self._path.replace(self._path.with_suffix(".unreadable"))
            return [f"{broken}: cannot be read; what it says was changed is left as it is"]
        if not made:
            return []
        undone = [self._undo(change) for change in reversed(made)]
        # The kernel clamps a bound until what bounds it is back as well.
        undone = [self._undo(one.change, ours=True) if one.clamped else one for one in undone]
        self._keep([one.change for one in reversed(undone) if one.again])
        return [one.problem for one in undone if one.problem is not None]

    def _planned(self, write: Write) -> list[Change]:
        """What moves along stands first, to be put back last; nothing when the file holds the value already."""
        try:
            change = Change(path=str(write.path), earlier=_held(write.path), value=write.value)
            moved = [Change(path=str(path), earlier=_held(path), value=None) for path in write.moves]
        except OSError as problem:
            raise _cannot(write.path, write.value, problem) from problem
        return [*moved, change] if change.earlier != change.value else []

    def _do(self, change: Change) -> None:
        if change.value is None:
            return
        path = Path(change.path)
        try:
            self._hands.write(path, change.value)
            now = _held(path)
        except OSError as problem:
            raise _cannot(path, change.value, problem) from problem
        if now != change.value:
            raise JobFailure(FailureKind.STUDY, f"{path}: was set to {change.value}, but reads {now}")

    def _undo(self, change: Change, *, ours: bool = False) -> _Undone:
        """`ours`: whatever it holds now came of our own write."""
        path, earlier = Path(change.path), change.earlier
        try:
            now = _held(path)
            ours = ours or change.value is None or now == change.value
            if ours and now != earlier:
                self._hands.write(path, earlier)
                now = _held(path)
        except FileNotFoundError:
            return _Undone(change=change, problem=f"{path}: is gone; it held {earlier} before")
        except OSError as problem:
            return _Undone(
                change=change, again=True, problem=f"{path}: cannot be put back to {earlier}: {problem.strerror}"
            )
        if now == earlier:
            return _Undone(change=change)
        if ours:
            return _Undone(change=change, clamped=True, problem=f"{path}: was put back to {earlier}, but reads {now}")
        left = f"{path}: somebody else set it to {now}; left as it is (it held {earlier} before)"
        return _Undone(change=change, problem=left)

    def _made(self) -> list[Change]:
        try:
            return [Change(**record) for record in json.loads(self._path.read_text())]
        except FileNotFoundError:
            return []

    def _keep(self, changes: list[Change]) -> None:
        """On the disk when this returns; without a change there is no journal."""
        if changes:
            fresh = self._path.with_suffix(".new")
            with fresh.open("w") as file:
                json.dump([asdict(change) for change in changes], file)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path)
        else:
            self._path.unlink(missing_ok=True)
        folder = os.open(self._path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Undone:
    """How putting back went."""

    change: Change
    problem: str | None = None
    again: bool = False
    """The system refused: worth another try at the next start."""
    clamped: bool = False
    """The system took it, and made something else of it."""


def _known(change: Change) -> Change:
    """With what the kernel made of a file that it changed along with another one."""
    return change if change.value is not None else replace(change, value=_held(Path(change.path)))


def _held(path: Path) -> str:
    """The word a file holds; of a list the chosen one. Raises OSError."""
    text = path.read_text().strip()
    return files.chosen(text) or text


def _cannot(path: Path, value: str, problem: OSError) -> JobFailure:
    return JobFailure(FailureKind.STUDY, f"{path}: cannot be set to {value}: {problem.strerror}")
