"""Darshan logs, read by a child process that may crash; what cannot be read is told, with the reason."""

from __future__ import annotations

import hashlib
import json
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from orchestrator.contracts.errors import TableError, missing_extra
from orchestrator.contracts.job_logs import ProgramLog

TIMEOUT_S = 120.0  # for one log
SUFFIXES = (".darshan", ".darshan.gz", ".darshan.bz2", ".darshan_partial")


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """A log that told nothing."""

    path: Path
    reason: str


def found_logs(place: Path) -> list[Path]:
    """The logs of a folder and all below it, or the one log that it is. Raises TableError where there is none."""
    if place.is_file():
        return [place]
    found = sorted(path for path in place.rglob("*") if path.name.endswith(SUFFIXES) and path.is_file())
    if not found:
        raise TableError(f"{place}: there is no Darshan log (*.darshan) in it")
    return found


def read_program_logs(paths: Iterable[Path]) -> Iterator[ProgramLog | Unreadable]:
    """Each log in order. Raises MissingPartError without PyDarshan."""
    if find_spec("darshan") is None:
        raise missing_extra("Darshan logs need PyDarshan", "logs")
    reader = _Reader()
    try:
        for path in paths:
            yield _one(reader, path)
    finally:
        reader.close()


def _one(reader: _Reader, path: Path) -> ProgramLog | Unreadable:
    try:
        content = path.read_bytes()
    except OSError as error:
        return Unreadable(path=path, reason=error.strerror or str(error))
    if not content:
        return Unreadable(path=path, reason="the file is empty")
    told = reader.ask(path.absolute())
    if "error" in told:
        return Unreadable(path=path, reason=" ".join(told["error"].split()))
    return ProgramLog(
        **{**told, "osts": tuple(told["osts"])}, digest=hashlib.sha256(content).hexdigest(), file_name=path.name
    )


class _Reader:
    """The child, started when it is needed and again after it has died."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None

    def ask(self, path: Path) -> dict[str, Any]:
        child = self._child or self._start()
        questions, answers = child.stdin, child.stdout
        if questions is None or answers is None:
            raise TypeError("the child was started with pipes")
        try:
            questions.write(f"{path}\n")
            questions.flush()
        except BrokenPipeError:
            return self._died(child)
        ready, _, _ = select.select([answers], [], [], TIMEOUT_S)
        if not ready:
            self.close()
            return {"error": f"Darshan's library did not come to an end in {TIMEOUT_S:g} s"}
        line = answers.readline()
        answer: dict[str, Any] = json.loads(line) if line else self._died(child)
        return answer

    def close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def _start(self) -> subprocess.Popen[str]:
        self._child = subprocess.Popen(
            [sys.executable, "-m", "orchestrator.job_logs.darshan_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self._child

    def _died(self, child: subprocess.Popen[str]) -> dict[str, Any]:
        with suppress(BrokenPipeError):
            child.communicate()
        self._child = None
        return {"error": f"Darshan's library crashed on it (exit status {child.returncode})"}
