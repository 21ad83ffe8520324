"""Logs of jobs from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from orchestrator.contracts.job_logs import FileSystem, FileSystemSample, LogCounts, ProgramLog, ScheduledJob


class JobLogs(Protocol):
    """Logs of jobs that ran elsewhere. Adding the same again changes nothing."""

    def add_scheduled_jobs(self, jobs: Sequence[ScheduledJob]) -> int:
        """How many were new; what is told of a job that was known replaces it."""

    def add_program_logs(self, logs: Sequence[ProgramLog]) -> int:
        """How many were new, by their digest."""

    def add_samples(self, file_system: FileSystem, samples: Sequence[FileSystemSample]) -> int:
        """How many were new. Raises ConflictError when the file system is known with other OSTs or OSSs."""

    def set_mounts(self, file_systems: Mapping[str, str]) -> None:
        """Mount point, as programs see it -> file system, as LMT calls it."""

    def mounts(self) -> dict[str, str]:
        """The same."""

    def scheduled_jobs(self) -> list[ScheduledJob]:
        """By job id."""

    def program_logs(self) -> list[ProgramLog]:
        """In the order of their start, then by digest."""

    def file_systems(self) -> list[FileSystem]:
        """By name."""

    def samples(self, file_system: str, *, from_s: float, to_s: float) -> list[FileSystemSample]:
        """Those of [from_s, to_s], in the order of time."""

    def counts(self) -> LogCounts:
        """How many there are."""
