"""Logs of jobs that ran elsewhere, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.contracts.job_logs import FileSystem, FileSystemSample, LogCounts, ProgramLog, ScheduledJob
from orchestrator.store import rules
from orchestrator.store.memory.tables import Tables, transaction


class JobLogs:
    """Each kind under its own key."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @transaction
    def add_scheduled_jobs(self, jobs: Sequence[ScheduledJob]) -> int:
        """How many were new."""
        before = len(self.tables.scheduled_jobs)
        self.tables.scheduled_jobs.update({job.job_id: job for job in jobs})
        return len(self.tables.scheduled_jobs) - before

    @transaction
    def add_program_logs(self, logs: Sequence[ProgramLog]) -> int:
        """How many were new."""
        before = len(self.tables.program_logs)
        for log in logs:
            self.tables.program_logs.setdefault(log.digest, log)
        return len(self.tables.program_logs) - before

    @transaction
    def add_samples(self, file_system: FileSystem, samples: Sequence[FileSystemSample]) -> int:
        """How many were new."""
        known = self.tables.log_file_systems.setdefault(file_system.name, file_system)
        if known != file_system:
            raise rules.other_parts(file_system)
        before = len(self.tables.file_system_samples)
        for sample in samples:
            self.tables.file_system_samples.setdefault((file_system.name, sample.at_s), sample)
        return len(self.tables.file_system_samples) - before

    @transaction
    def set_mounts(self, file_systems: Mapping[str, str]) -> None:
        """Mount point -> file system."""
        self.tables.log_mounts.update(file_systems)

    @transaction
    def mounts(self) -> dict[str, str]:
        """The same."""
        return dict(self.tables.log_mounts)

    @transaction
    def scheduled_jobs(self) -> list[ScheduledJob]:
        """By job id."""
        return sorted(self.tables.scheduled_jobs.values(), key=lambda job: job.job_id)

    @transaction
    def program_logs(self) -> list[ProgramLog]:
        """In the order of their start, then by digest."""
        return sorted(self.tables.program_logs.values(), key=lambda log: (log.started_s, log.digest))

    @transaction
    def file_systems(self) -> list[FileSystem]:
        """By name."""
        return sorted(self.tables.log_file_systems.values(), key=lambda one: one.name)

    @transaction
    def samples(self, file_system: str, *, from_s: float, to_s: float) -> list[FileSystemSample]:
        """Those of [from_s, to_s], in the order of time."""
        found = (s for (name, at), s in self.tables.file_system_samples.items() if name == file_system)
        return sorted((s for s in found if from_s <= s.at_s <= to_s), key=lambda sample: sample.at_s)

    @transaction
    def counts(self) -> LogCounts:
        """How many there are."""
        return LogCounts(
            scheduled_jobs=len(self.tables.scheduled_jobs),
            program_logs=len(self.tables.program_logs),
            file_systems=len(self.tables.log_file_systems),
            file_system_samples=len(self.tables.file_system_samples),
        )
