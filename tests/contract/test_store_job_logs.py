"""Logs of jobs from elsewhere: adding them again changes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.job_logs import FileSystem, FileSystemSample, LogCounts, ProgramLog, ScheduledJob
from tests.contract.stores import StoreUnderTest

JOB = ScheduledJob(job_id="17", user="eve", group="physics", partition="knl", started_s=100.0, ended_s=200.0, nodes=2)
LOG = ProgramLog(
    digest="d1",
    file_name="eve_ior.darshan",
    job_id="17",
    program="ior",
    user="eve",
    started_s=110.0,
    runtime_s=60.0,
    processes=64,
    mount="/scratch",
    osts=(1, 4),
    features={"WriteBytesTotal": 1e12, "NumFile": 3.0},
)
SYSTEM = FileSystem(name="snx", osts=("OST0", "OST1"), osss=("oss0",))


def sample(at_s: float) -> FileSystemSample:
    return FileSystemSample(
        at_s=at_s,
        read_bytes_per_s=(0.0, 8.0),
        written_bytes_per_s=(1.0, 2.0),
        oss_cpu_percent=(12.5,),
        mds_cpu_percent=3.5,
        mds_ops_per_s=100.0,
    )


def test_what_was_added_is_given_back(store: StoreUnderTest) -> None:
    logs = store.job_logs
    assert logs.add_scheduled_jobs([JOB]) == 1
    assert logs.add_program_logs([replace(LOG, digest="d2", started_s=500.0), LOG]) == 2
    assert logs.add_samples(SYSTEM, [sample(120.0), sample(115.0)]) == 2
    logs.set_mounts({"/scratch": "snx"})
    assert logs.scheduled_jobs() == [JOB]
    assert logs.program_logs() == [LOG, replace(LOG, digest="d2", started_s=500.0)]
    assert logs.file_systems() == [SYSTEM]
    assert logs.mounts() == {"/scratch": "snx"}
    assert logs.counts() == LogCounts(scheduled_jobs=1, program_logs=2, file_systems=1, file_system_samples=2)


def test_adding_the_same_again_changes_nothing(store: StoreUnderTest) -> None:
    logs = store.job_logs
    for expected in (1, 0):
        assert logs.add_scheduled_jobs([JOB, JOB]) == expected
        assert logs.add_program_logs([LOG]) == expected
        assert logs.add_samples(SYSTEM, [sample(1.0)]) == expected


def test_what_the_scheduler_says_later_replaces_what_it_said(store: StoreUnderTest) -> None:
    store.job_logs.add_scheduled_jobs([replace(JOB, ended_s=None, state="RUNNING")])
    store.job_logs.add_scheduled_jobs([replace(JOB, state="COMPLETED")])
    assert store.job_logs.scheduled_jobs() == [replace(JOB, state="COMPLETED")]


def test_samples_are_given_of_an_interval_with_both_its_ends(store: StoreUnderTest) -> None:
    store.job_logs.add_samples(SYSTEM, [sample(at_s) for at_s in (20.0, 5.0, 10.0, 15.0)])
    assert [one.at_s for one in store.job_logs.samples("snx", from_s=10.0, to_s=20.0)] == [10.0, 15.0, 20.0]
    assert store.job_logs.samples("other", from_s=0.0, to_s=99.0) == []


def test_more_rows_than_a_statement_has_parameters_are_added(store: StoreUnderTest) -> None:
    jobs = [replace(JOB, job_id=str(number)) for number in range(2500)]
    assert store.job_logs.add_scheduled_jobs(jobs) == 2500


def test_a_file_system_with_other_parts_is_refused(store: StoreUnderTest) -> None:
    store.job_logs.add_samples(SYSTEM, [sample(1.0)])
    with pytest.raises(ConflictError, match="other OSTs"):
        store.job_logs.add_samples(replace(SYSTEM, osts=("OST0",)), [sample(2.0)])
