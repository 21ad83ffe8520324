"""The three factors every I/O benchmark needs, read from a setting."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind
from workers.benchmarks.port import Task

MAX_THREADS = 65_536
"""More processes than any node starts; every one is a file name among the arguments."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """How much each of `threads` processes writes and reads."""

    threads: int
    file_size_kb: int
    """Per process."""
    record_size_kb: int

    @property
    def needed_kb(self) -> int:
        """Space for all files together."""
        return self.threads * self.file_size_kb

    @classmethod
    def of(cls, task: Task) -> Sizes:
        """Raises JobFailure (study) when a factor is missing or not a whole number above 0, or too large."""
        sizes = cls(
            threads=_level(task, "threads"),
            file_size_kb=_level(task, "file_size_kb"),
            record_size_kb=_level(task, "record_size_kb"),
        )
        if sizes.threads > MAX_THREADS:
            raise _study(f"factor threads: {sizes.threads} is above {MAX_THREADS}")
        if sizes.record_size_kb > sizes.file_size_kb:
            raise _study(f"record_size_kb {sizes.record_size_kb} is above file_size_kb {sizes.file_size_kb}")
        return sizes


def _level(task: Task, factor: str) -> int:
    level = task.setting.get(factor)
    if isinstance(level, bool) or not isinstance(level, int) or level < 1:
        raise _study(f"factor {factor}: {level!r} is not a whole number above 0")
    return level


def _study(reason: str) -> JobFailure:
    return JobFailure(FailureKind.STUDY, reason)
