"""Logs of jobs that ran elsewhere: added in one statement a batch, joined by whoever asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, func, select
from sqlalchemy.dialects.postgresql import insert

from orchestrator.contracts import job_logs
from orchestrator.contracts.job_logs import FileSystemSample, LogCounts
from orchestrator.store import models, rules
from orchestrator.store.postgres.connection import Database

BATCH = 1000
# Words of SQL have other names in the ledger.
_COLUMN = {"user": "user_name", "group": "group_name"}


class PostgresJobLogs:
    """Each kind in a table of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_scheduled_jobs(self, jobs: Sequence[job_logs.ScheduledJob]) -> int:
        """How many were new."""
        rows = list({job.job_id: _row(job) for job in jobs}.values())
        with self._database.writing() as connection:
            before = _count(connection, models.ScheduledJob)
            for part in _parts(rows):
                statement = insert(models.ScheduledJob).values(part)
                told = {name: statement.excluded[name] for name in part[0] if name != "job_id"}
                connection.execute(statement.on_conflict_do_update(index_elements=["job_id"], set_=told))
            return _count(connection, models.ScheduledJob) - before

    def add_program_logs(self, logs: Sequence[job_logs.ProgramLog]) -> int:
        """How many were new."""
        with self._database.writing() as connection:
            return _added(connection, models.ProgramLog, [_row(log) for log in logs])

    def add_samples(self, file_system: job_logs.FileSystem, samples: Sequence[FileSystemSample]) -> int:
        """How many were new."""
        with self._database.writing() as connection:
            _added(connection, models.LogFileSystem, [_row(file_system)])
            asked = select(models.LogFileSystem.osts, models.LogFileSystem.osss)
            known = connection.execute(asked.where(models.LogFileSystem.name == file_system.name)).one()
            if (tuple(known.osts), tuple(known.osss)) != (file_system.osts, file_system.osss):
                raise rules.other_parts(file_system)
            rows = [{"file_system": file_system.name, **_row(sample)} for sample in samples]
            return _added(connection, models.FileSystemSample, rows)

    def set_mounts(self, file_systems: Mapping[str, str]) -> None:
        """Mount point -> file system."""
        with self._database.writing() as connection:
            for mount, name in file_systems.items():
                statement = insert(models.LogMount).values(mount=mount, file_system=name)
                connection.execute(
                    statement.on_conflict_do_update(index_elements=["mount"], set_={"file_system": name})
                )

    def mounts(self) -> dict[str, str]:
        """The same."""
        asked = select(models.LogMount.mount, models.LogMount.file_system).order_by(models.LogMount.mount)
        with self._database.reading() as connection:
            return {row.mount: row.file_system for row in connection.execute(asked)}

    def scheduled_jobs(self) -> list[job_logs.ScheduledJob]:
        """By job id."""
        table = _table(models.ScheduledJob)
        with self._database.reading() as connection:
            rows = connection.execute(select(table)).mappings().all()
        return sorted((job_logs.ScheduledJob(**_named(row)) for row in rows), key=lambda job: job.job_id)

    def program_logs(self) -> list[job_logs.ProgramLog]:
        """In the order of their start, then by digest."""
        table = _table(models.ProgramLog)
        with self._database.reading() as connection:
            rows = connection.execute(select(table)).mappings().all()
        found = (job_logs.ProgramLog(**{**_named(row), "osts": tuple(row["osts"])}) for row in rows)
        return sorted(found, key=lambda log: (log.started_s, log.digest))

    def file_systems(self) -> list[job_logs.FileSystem]:
        """By name."""
        with self._database.reading() as connection:
            rows = connection.execute(select(_table(models.LogFileSystem))).all()
        found = (job_logs.FileSystem(name=row.name, osts=tuple(row.osts), osss=tuple(row.osss)) for row in rows)
        return sorted(found, key=lambda one: one.name)

    def samples(self, file_system: str, *, from_s: float, to_s: float) -> list[FileSystemSample]:
        """Those of [from_s, to_s], in the order of time."""
        row = models.FileSystemSample
        asked = select(_table(row)).where(row.file_system == file_system, row.at_s.between(from_s, to_s))
        with self._database.reading() as connection:
            rows = connection.execute(asked.order_by(row.at_s)).all()
        return [
            FileSystemSample(
                at_s=found.at_s,
                read_bytes_per_s=tuple(found.read_bytes_per_s),
                written_bytes_per_s=tuple(found.written_bytes_per_s),
                oss_cpu_percent=tuple(found.oss_cpu_percent),
                mds_cpu_percent=found.mds_cpu_percent,
                mds_ops_per_s=found.mds_ops_per_s,
            )
            for found in rows
        ]

    def counts(self) -> LogCounts:
        """How many there are."""
        with self._database.reading() as connection:
            return LogCounts(
                scheduled_jobs=_count(connection, models.ScheduledJob),
                program_logs=_count(connection, models.ProgramLog),
                file_systems=_count(connection, models.LogFileSystem),
                file_system_samples=_count(connection, models.FileSystemSample),
            )


def _table(model: type[models.Base]) -> Table:
    found: Table = model.metadata.tables[model.__tablename__]
    return found


def _count(connection: Connection, model: type[models.Base]) -> int:
    return int(connection.execute(select(func.count()).select_from(_table(model))).scalar_one())


def _added(connection: Connection, model: type[models.Base], rows: Sequence[dict[str, Any]]) -> int:
    """How many of the rows were not there; the others stay as they are."""
    added = 0
    for part in _parts(rows):
        statement = insert(model).values(part).on_conflict_do_nothing()
        added += len(connection.execute(statement.returning(*_table(model).primary_key)).all())
    return added


def _parts(rows: Sequence[dict[str, Any]]) -> list[Sequence[dict[str, Any]]]:
    """A statement has at most 65,535 parameters."""
    return [rows[first : first + BATCH] for first in range(0, len(rows), BATCH)]


def _row(value: Any) -> dict[str, Any]:
    told = {name: getattr(value, name) for name in value.__slots__}
    listed = {name: list(one) if isinstance(one, tuple) else one for name, one in told.items()}
    if "features" in listed:
        listed["features"] = dict(listed["features"])
    return {_COLUMN.get(name, name): one for name, one in listed.items()}


def _named(row: RowMapping) -> dict[str, Any]:
    names = {column: name for name, column in _COLUMN.items()}
    return {names.get(str(column), str(column)): value for column, value in row.items()}
