"""Tables of logs of jobs from elsewhere."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ARRAY, Integer
from sqlalchemy.dialects.postgresql import REAL
from sqlalchemy.orm import Mapped, mapped_column

from orchestrator.store.models.base import Base


class ScheduledJob(Base):
    """A job as its scheduler knew it."""

    __tablename__ = "scheduled_jobs"
    job_id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str | None]
    user_name: Mapped[str | None]
    group_name: Mapped[str | None]
    partition: Mapped[str | None]
    state: Mapped[str | None]
    submitted_s: Mapped[float | None]
    started_s: Mapped[float | None]
    ended_s: Mapped[float | None]
    processes: Mapped[int | None]
    nodes: Mapped[int | None]
    time_limit_s: Mapped[float | None]


class ProgramLog(Base):
    """One execution of a program, as Darshan logged it."""

    __tablename__ = "program_logs"
    digest: Mapped[str] = mapped_column(primary_key=True)
    file_name: Mapped[str]
    job_id: Mapped[str]
    program: Mapped[str]
    user_name: Mapped[str]
    started_s: Mapped[float]
    runtime_s: Mapped[float]
    processes: Mapped[int]
    mount: Mapped[str | None]
    osts: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    features: Mapped[dict[str, Any]]


class LogFileSystem(Base):
    """A file system that LMT watched."""

    __tablename__ = "log_file_systems"
    name: Mapped[str] = mapped_column(primary_key=True)
    osts: Mapped[list[str]]
    osss: Mapped[list[str]]


class LogMount(Base):
    """Where programs see a file system."""

    __tablename__ = "log_mounts"
    mount: Mapped[str] = mapped_column(primary_key=True)
    file_system: Mapped[str]


class FileSystemSample(Base):
    """What LMT saw at one instant."""

    __tablename__ = "file_system_samples"
    file_system: Mapped[str] = mapped_column(primary_key=True)
    at_s: Mapped[float] = mapped_column(primary_key=True)
    read_bytes_per_s: Mapped[list[float]] = mapped_column(ARRAY(REAL))
    written_bytes_per_s: Mapped[list[float]] = mapped_column(ARRAY(REAL))
    oss_cpu_percent: Mapped[list[float]] = mapped_column(ARRAY(REAL))
    mds_cpu_percent: Mapped[float] = mapped_column(REAL)
    mds_ops_per_s: Mapped[float] = mapped_column(REAL)
