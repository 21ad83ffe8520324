"""The folder in which benchmarks make their files: space, rights, and nothing left behind."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind


class Target:
    """One node's share of a target folder. Several nodes may use the same folder: each cleans up after itself only."""

    def __init__(self, path: Path, *, node: str, reserve_kb: int) -> None:
        self.path = path
        self._prefix = f"run.{node}."
        self._reserve_kb = reserve_kb

    def check(self, needed_kb: int) -> None:
        """Raises JobFailure (node): the folder is missing, read-only, or too full for `needed_kb` and the reserve."""
        if not self.path.is_dir():
            raise _node(f"target folder {self.path} is missing; make it, or name another one in inventory.yaml")
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise _node(f"target folder {self.path} is read-only for this user; name another one in inventory.yaml")
        free_kb = shutil.disk_usage(self.path).free // 1024
        if free_kb < needed_kb + self._reserve_kb:
            raise _node(
                f"target folder {self.path} has {free_kb} kB free, but {needed_kb} kB are needed "
                f"and {self._reserve_kb} kB kept in reserve; make room, or set reserve_kb in inventory.yaml"
            )

    @contextmanager
    def run_folder(self) -> Iterator[Path]:
        """A fresh folder for one run, removed with all that is in it. Raises JobFailure (node) if it cannot be made."""
        folder = self.path / f"{self._prefix}{uuid.uuid4().hex}"
        try:
            folder.mkdir()
        except OSError as problem:
            raise _node(f"target folder {self.path}: cannot make a folder in it: {problem.strerror}") from problem
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def sweep(self) -> int:
        """Remove what dead runs of this node left; how many folders that were. Only safe while nothing runs."""
        ours = re.compile(re.escape(self._prefix) + "[0-9a-f]{32}")
        left = [entry for entry in self.path.glob("run.*") if ours.fullmatch(entry.name)]
        for folder in left:
            shutil.rmtree(folder, ignore_errors=True)
        return len(left)


def _node(reason: str) -> JobFailure:
    return JobFailure(FailureKind.NODE, reason)
