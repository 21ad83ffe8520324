"""What logs tell: scheduler of jobs, Darshan of programs, LMT of file systems. Times are seconds since 1970, UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduledJob:
    """A job as the scheduler knows it; None: not told."""

    job_id: str
    name: str | None = None
    user: str | None = None
    group: str | None = None
    partition: str | None = None
    state: str | None = None
    submitted_s: float | None = None
    started_s: float | None = None
    ended_s: float | None = None
    processes: int | None = None
    nodes: int | None = None
    time_limit_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgramLog:
    """One execution of a program as Darshan logged it."""

    digest: str  # SHA-256 of the file: the same log is the same execution, wherever it lies
    file_name: str
    job_id: str
    program: str
    user: str
    started_s: float
    runtime_s: float
    processes: int
    mount: str | None  # of the file system that it moved most bytes to or from
    osts: tuple[int, ...]  # that its files lie on, where Darshan's Lustre module tells
    features: Mapping[str, float]  # by the names of the paper's Table 1


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystem:
    """A Lustre file system and the order of its parts in samples."""

    name: str
    osts: tuple[str, ...]
    osss: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystemSample:
    """What LMT saw at one instant; NaN: missing."""

    at_s: float
    read_bytes_per_s: tuple[float, ...]  # of each OST
    written_bytes_per_s: tuple[float, ...]  # of each OST
    oss_cpu_percent: tuple[float, ...]  # of each OSS
    mds_cpu_percent: float
    mds_ops_per_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class LogCounts:
    """How many of each there are."""

    scheduled_jobs: int
    program_logs: int
    file_systems: int
    file_system_samples: int
