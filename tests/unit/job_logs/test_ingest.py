"""`modescope logs ingest` and `table`: logs in, one row for each execution out."""

import csv
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from orchestrator.contracts.errors import TableError
from orchestrator.contracts.job_logs import FileSystem, FileSystemSample, ProgramLog, ScheduledJob
from orchestrator.job_logs import campaigns, darshan_logs, ingesting, lmt, scheduler
from orchestrator.job_logs.darshan_logs import Unreadable
from orchestrator.job_logs.ingesting import Sources
from orchestrator.job_logs.jobs import Columns, jobs_of
from orchestrator.job_logs.joining import COLUMNS, join
from orchestrator.job_logs.table import read_jobs_table
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory

DATA = Path(__file__).parents[4] / "shared/data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"{DATA} is not there: real logs are not in the repository")
SACCT = (
    "JobID|JobName|User|Account|Partition|NNodes|NTasks|State|Start|End|Timelimit\n"
    "17|job,1|eve|physics|knl|2||COMPLETED|2023-05-01T00:00:00|2023-05-01T01:00:00|1-02:00:00\n"
    "17.batch|batch|||||1|COMPLETED|2023-05-01T00:00:00|2023-05-01T01:00:00|\n"
    "17.0|ior||||2|64|COMPLETED|2023-05-01T00:00:01|2023-05-01T00:59:00|\n"
    "18|wait|bob|physics|knl|1||PENDING|Unknown|Unknown|00:30:00\n"
)


@pytest.mark.parametrize("separator", ["|", ",", ";", "\t", "\u2603", "\x1e"])
def test_a_dump_of_sacct_may_have_any_separator(tmp_path, separator):
    path = tmp_path / "sacct.txt"
    path.write_text(SACCT.replace("job,1", "job1").replace("|", separator), encoding="utf-8")
    first, second = scheduler.read_scheduled_jobs(path, zone=UTC)
    assert (first.job_id, first.user, first.group, first.nodes, first.processes) == ("17", "eve", "physics", 2, 64)
    assert (first.started_s, first.ended_s, first.time_limit_s) == (1682899200.0, 1682902800.0, 93600.0)
    assert (second.state, second.started_s, second.processes) == ("PENDING", None, None)


def test_a_comma_within_cells_is_no_separator_where_there_is_another(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text(SACCT)
    assert scheduler.read_scheduled_jobs(path, zone=UTC)[0].name == "job,1"


def test_times_are_of_the_site(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text(SACCT)
    there = scheduler.read_scheduled_jobs(path, zone=ZoneInfo("America/Los_Angeles"))[0]
    assert there.started_s == 1682899200.0 + 7 * 3600


def test_json_of_sacct_is_read_with_numbers_of_old_and_new_versions(tmp_path):
    path = tmp_path / "sacct.json"
    job = {
        "job_id": 17, "name": "ior", "user": "eve", "group": "physics", "partition": "knl",
        "state": {"current": ["COMPLETED"]},
        "time": {"submission": 1, "start": 100, "end": 200, "limit": {"set": True, "infinite": False, "number": 60}},
        "tres": {"allocated": [{"type": "node", "count": 2}]}, "steps": [{"tasks": {"count": 64}}],
    }  # fmt: skip
    path.write_text(json.dumps({"jobs": [job]}))
    assert scheduler.read_scheduled_jobs(path, zone=UTC) == [
        ScheduledJob(
            job_id="17", name="ior", user="eve", group="physics", partition="knl", state="COMPLETED", submitted_s=1.0,
            started_s=100.0, ended_s=200.0, processes=64, nodes=2, time_limit_s=3600.0,
        )
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "{}x", '{"jobs": 3}', "1|2|3\n4|5|6\n", "[1]"])
def test_what_is_no_dump_is_one_line(tmp_path, text):
    path = tmp_path / "sacct.txt"
    path.write_text(text)
    with pytest.raises(TableError, match=r"sacct\.txt"):
        scheduler.read_scheduled_jobs(path, zone=UTC)


def made_lmt(path: Path) -> Path:
    """Two OSTs on two servers, six samples; the second server's counter falls to zero in between."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript("""
            CREATE TABLE TIMESTAMP_INFO (TS_ID, TIMESTAMP); CREATE TABLE OST_INFO (OST_ID, OSS_ID, OST_NAME);
            CREATE TABLE OSS_INFO (OSS_ID, HOSTNAME); CREATE TABLE OSS_DATA (OSS_ID, TS_ID, PCT_CPU);
            CREATE TABLE OST_DATA (OST_ID, TS_ID, READ_BYTES, WRITE_BYTES);
            CREATE TABLE MDS_DATA (MDS_ID, TS_ID, PCT_CPU); CREATE TABLE OPERATION_INFO (OPERATION_ID, OPERATION_NAME);
            CREATE TABLE MDS_OPS_DATA (MDS_ID, TS_ID, OPERATION_ID, SAMPLES);
            INSERT INTO OST_INFO VALUES (1, 1, 'snx-OST0000'), (2, 2, 'snx-OST000a');
            INSERT INTO OSS_INFO VALUES (1, 'oss1'), (2, 'oss2');
            INSERT INTO OPERATION_INFO VALUES (1, 'open'), (2, 'connect');
        """)
        for place in range(6):
            database.execute("INSERT INTO TIMESTAMP_INFO VALUES (?, ?)", (place, f"2023-05-01 00:00:{5 * place:02d}"))
            database.execute("INSERT INTO OST_DATA VALUES (1, ?, ?, ?)", (place, 0, 1000 * place))
            database.execute("INSERT INTO OST_DATA VALUES (2, ?, ?, ?)", (place, 0, 3000 * (place % 4)))
            database.execute("INSERT INTO OSS_DATA VALUES (1, ?, 10.0), (2, ?, 30.0)", (place, place))
            database.execute("INSERT INTO MDS_DATA VALUES (1, ?, ?)", (place, place))
            database.execute("INSERT INTO MDS_OPS_DATA VALUES (1, ?, 1, ?), (1, ?, 2, 9)", (place, 50 * place, place))
        database.commit()
    return path


def test_counters_of_lmt_become_rates_and_one_that_falls_is_missing(tmp_path):
    watched = lmt.read_lmt(made_lmt(tmp_path / "lmt.sqlite3"), zone=UTC)
    assert watched.file_system == FileSystem(name="snx", osts=("snx-OST0000", "snx-OST000a"), osss=("oss1", "oss2"))
    samples = watched.samples
    assert samples[1].at_s == 1682899205.0
    assert samples[1].written_bytes_per_s == (200.0, 600.0)
    assert samples[1].oss_cpu_percent == (10.0, 30.0)
    assert (samples[1].mds_cpu_percent, samples[1].mds_ops_per_s) == (1.0, 10.0)  # `connect` is no metadata
    assert np.isnan(samples[0].written_bytes_per_s).all()
    assert np.isnan(samples[4].written_bytes_per_s[1])


def test_time_series_in_hdf5_are_read_and_cells_never_written_are_missing(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "snx.hdf5"
    with h5py.File(path, "w") as file:
        file["datatargets/timestamps"] = np.array([100, 105, 110])
        for name in ("readbytes", "writebytes"):
            file[f"datatargets/{name}"] = np.array([[1.0, -0.0], [3.0, 4.0], [5.0, 0.0]])
            file[f"datatargets/{name}"].attrs["columns"] = [b"snx-OST0000", b"snx-OST0001"]
        file["mdtargets/opens"] = np.array([[50.0], [50.0], [100.0]])
    watched = lmt.read_lmt(path, zone=UTC)
    assert watched.file_system.osts == ("snx-OST0000", "snx-OST0001")
    assert np.isnan(watched.samples[0].written_bytes_per_s[1])
    assert watched.samples[2].written_bytes_per_s == (1.0, 0.0)
    assert [one.mds_ops_per_s for one in watched.samples] == [10.0, 10.0, 20.0]


def sample(at_s: float, written: tuple[float, float]) -> FileSystemSample:
    return FileSystemSample(
        at_s=at_s, read_bytes_per_s=(0.0, 0.0), written_bytes_per_s=written, oss_cpu_percent=(at_s,),
        mds_cpu_percent=float("nan"), mds_ops_per_s=1.0,
    )  # fmt: skip


LOG = ProgramLog(
    digest="d", file_name="f", job_id="17", program="ior", user="1000", started_s=100.0, runtime_s=10.0, processes=64,
    mount="/scratch", osts=(10,), features={"WriteBytesTotal": 5.0, "ReadBytesTotal": 1.0, "Throughput": 3.0},
)  # fmt: skip
SYSTEM = FileSystem(name="snx", osts=("snx-OST0000", "snx-OST000a"), osss=("oss1",))


def test_an_execution_is_joined_with_its_job_and_with_its_file_system_meanwhile():
    asked = []

    def samples_of(name, from_s, to_s):
        asked.append((name, from_s, to_s))
        return [sample(100.0, (1.0, 3.0)), sample(105.0, (3.0, 9.0)), sample(110.0, (float("nan"), 0.0))]

    job = ScheduledJob(job_id="17", user="eve", group="physics", partition="knl", nodes=2)
    (found,) = join([LOG], [job], [SYSTEM], {"/scratch": "snx"}, samples_of)
    assert asked == [("snx", 100.0, 110.0)]
    assert (found.with_job, found.with_file_system) == (True, True)
    row = found.row
    assert (row["UserName"], row["GroupID"], row["Partition"], row["NumNodes"]) == ("eve", "physics", "knl", 2.0)
    assert (row["Direction"], row["FileSystem"], row["EndTime"]) == ("write", "snx", 110.0)
    assert (row["ossWriteMean"], row["ossWrite95"]) == (pytest.approx(16 / 3), pytest.approx(11.2))
    assert row["WriteBytesPct"] == 75.0  # OST 10 is called 000a
    assert "mdsCPUMean" not in row
    assert set(row) <= set(COLUMNS)


def test_an_execution_without_anything_to_join_is_a_row_of_its_own():
    (found,) = join([LOG], [], [], {}, lambda *_: [])
    assert (found.with_job, found.with_file_system, found.row["FileSystem"]) == (False, False, "/scratch")


def test_what_cannot_be_read_is_reported_and_the_rest_is_kept(tmp_path):
    pytest.importorskip("darshan")
    broken, empty = tmp_path / "broken.darshan", tmp_path / "empty.darshan"
    broken.write_bytes(b"\x00nonsense" * 50)
    empty.write_bytes(b"")
    store = MemoryStore()
    sacct = tmp_path / "sacct.txt"
    sacct.write_text(SACCT)
    not_lmt = tmp_path / "other.sqlite3"
    not_lmt.write_bytes(b"text")
    sources = Sources(
        scheduler=[sacct], darshan=[tmp_path], lmt=[made_lmt(tmp_path / "lmt.sqlite3"), not_lmt], mounts={}, zone=UTC
    )
    told = ingesting.ingest(store.job_logs, sources, report=lambda _: None)
    again = ingesting.ingest(store.job_logs, sources, report=lambda _: None)
    assert [Path(one["path"]).name for one in told["unreadable"]] == [
        "other.sqlite3", "broken.darshan", "empty.darshan",
    ]  # fmt: skip
    assert told["scheduled_jobs"] == {"read": 2, "new": 2}
    assert again["scheduled_jobs"] == {"read": 2, "new": 0}
    assert again["file_system_samples"] == {"read": 6, "new": 0}
    assert told["matched"]["jobs_without_execution"] == 2
    assert any("broken.darshan" in line for line in ingesting.sentences(told))


def test_a_log_that_crashes_the_library_is_reported_and_the_next_is_read(tmp_path, monkeypatch):
    """Darshan's C library ends the child; here the first child ends itself, the second answers."""
    pytest.importorskip("darshan")
    crash = "import os; input(); os.abort()"
    answer = "import json\nwhile input(): print(json.dumps({'error': 'told by the second'}), flush=True)"
    programs = [crash, answer]

    def start(reader):
        reader._child = subprocess.Popen(
            [sys.executable, "-c", programs.pop(0)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        return reader._child

    monkeypatch.setattr(darshan_logs._Reader, "_start", start)
    paths = [tmp_path / name for name in ("a.darshan", "b.darshan")]
    for path in paths:
        path.write_bytes(b"x")
    first, second = darshan_logs.read_program_logs(paths)
    assert isinstance(first, Unreadable)
    assert "crashed" in first.reason
    assert isinstance(second, Unreadable)
    assert second.reason == "told by the second"


def test_runs_of_a_campaign_are_jobs_too(tmp_path):
    laboratory = Laboratory(MemoryStore())
    campaign = laboratory.submit()
    laboratory.work_off()
    text = campaigns.write_table(laboratory.store, campaign.id, tmp_path / "jobs.csv")
    rows = list(csv.DictReader(text.splitlines()))
    assert {row["Direction"] for row in rows} <= {"read", "write"}
    jobs = jobs_of(read_jobs_table(tmp_path / "jobs.csv"), Columns()).jobs
    assert len(jobs) == len(rows)
    assert set(campaign.factors) <= set(rows[0])


@needs_data
def test_real_logs_are_joined():
    """A benchmark of Edison with its job and its file system; logs of Darshan 2.x are reported."""
    pytest.importorskip("darshan")
    store = MemoryStore()
    sources = Sources(
        scheduler=[DATA / "lmt/sample.slurm"],
        darshan=[DATA / "lmt/sample.darshan", DATA / "darshan/darshan-test-2.x", DATA / "darshan/imbalanced_io"],
        lmt=[DATA / "lmt/snx11025_2018-01-28.sqlite3"],
        mounts={"/scratch2": "snx11025"},
        zone=ZoneInfo("America/Los_Angeles"),
    )
    told = ingesting.ingest(store.job_logs, sources, report=lambda _: None)
    assert told["program_logs"] == {"read": 2, "new": 2}
    assert len(told["unreadable"]) == 3
    assert told["matched"]["with_job"] == 1
    row = next(one.row for one in ingesting.joined(store.job_logs) if one.with_job)
    assert (row["ProgName"], row["Direction"], row["NumProcs"], row["NumNodes"]) == ("vpicio_uni", "write", 2048, 128)
    assert row["Throughput"] == pytest.approx(24535.3, abs=0.1)


@needs_data
def test_a_real_dump_with_snowmen_for_separators_is_read():
    jobs = scheduler.read_scheduled_jobs(DATA / "slurm/sacct.txt", zone=UTC)
    assert len({job.job_id for job in jobs}) == len(jobs) >= 100
    assert jobs[0].partition == "gpumedium"


@needs_data
def test_the_same_day_of_lmt_is_the_same_in_all_three_formats():
    there = ZoneInfo("America/Los_Angeles")
    names = ("sqlite3", "h5lmt", "hdf5")
    first, second, third = (lmt.read_lmt(DATA / f"lmt/snx11025_2018-01-28.{name}", zone=there) for name in names)
    assert first.file_system.osts == second.file_system.osts == third.file_system.osts
    written = [np.array([one.written_bytes_per_s for one in found.samples]) for found in (first, second, third)]
    assert np.allclose(written[0][1:], written[1][1:])
    assert np.allclose(written[1][1:], written[2])  # TOKIO labels an interval by its start
    operations = [np.array([one.mds_ops_per_s for one in found.samples]) for found in (first, second)]
    assert np.allclose(operations[0][1:], operations[1][1:])
