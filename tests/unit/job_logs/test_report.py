"""`modescope logs report` and `heat-map`: pages that need nothing else."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

pytest.importorskip("sklearn")

from analysis.errors import BadSampleError
from analysis.log_prediction import trees
from analysis.log_prediction.clusters import clusters
from analysis.log_prediction.evaluation import evaluate, split
from analysis.log_prediction.features import features
from analysis.log_prediction.importance import importances, kind_of
from analysis.log_prediction.published import regressors
from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.job_logs import FileSystem, FileSystemSample, ProgramLog
from orchestrator.job_logs import heat
from orchestrator.store.memory import MemoryStore
from tests.unit.analysis.made_jobs import made_jobs
from tests.unit.job_logs.test_logs_command import HEADER, lines, run

OSTS = ("snx-OST0000", "snx-OST0001")
LOG = ProgramLog(
    digest="d", file_name="f", job_id="17", program="ior", user="1000", started_s=1000.0, runtime_s=60.0, processes=64,
    mount="/scratch", osts=(1,), features={},
)  # fmt: skip


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(trees, "TREES", 20)
    monkeypatch.setattr(regressors, "available", lambda: ("linear", "kNN"))


def test_what_the_state_of_the_file_system_decides_is_important_and_the_calendar_is_not():
    found = evaluate(made_jobs(600), train_share=0.6, others={})
    lost = {one.kind: one.lost for one in importances(found, "write", rng=np.random.default_rng(1))}
    assert max(lost, key=lambda kind: lost[kind]) == "jobs just before on this file system"
    assert abs(lost["hour and weekday"]) < 0.02


def test_every_feature_is_of_some_kind():
    jobs = made_jobs(60)
    kinds = {kind_of(column) for column in features(jobs, split(jobs, 0.6)).columns}
    assert kinds == {
        "key and declared numbers", "hour and weekday", "history of the key", "jobs just before on this file system",
        "jobs just before on other file systems", "previous row of the key", "previous row of the file system",
    }  # fmt: skip


def test_jobs_that_did_the_like_are_one_cluster():
    rng = np.random.default_rng(3)
    of = rng.integers(0, 5, 500)
    values = np.column_stack([of * 100.0 + rng.normal(0, 1, 500), (of % 2) * 1e9 + rng.normal(0, 1e6, 500)])
    values[7, 1] = np.nan
    found = clusters(values, 1.0 + of, seed=0)
    assert [one.median_throughput for one in found] == [5.0, 4.0, 3.0, 2.0, 1.0]
    assert sum(one.jobs for one in found) == 500
    with pytest.raises(BadSampleError, match="too few"):
        clusters(values[:10], of[:10], seed=0)


def test_the_page_needs_nothing_else_and_says_where_not_to_trust_it(tmp_path):
    table, out = tmp_path / "jobs.csv", tmp_path / "jobs.html"
    table.write_text("\n".join([HEADER, *lines()]) + "\n")
    result = run("report", table, "--out", out)
    assert result.exception is None, result.exception
    text = out.read_text()
    HTMLParser().feed(text)
    assert not re.search(r'(src|href)="', text)
    for heading in ("Models beside each other", "Errors", "What predictions rest on", "Where not to trust it"):
        assert heading in text
    assert text.count("<svg") >= 6


def watched() -> MemoryStore:
    store = MemoryStore()
    store.job_logs.add_program_logs([LOG, replace(LOG, digest="e", mount="/home", program="cp")])
    store.job_logs.set_mounts({"/scratch": "snx"})
    store.job_logs.add_samples(
        FileSystem(name="snx", osts=OSTS, osss=()),
        [
            FileSystemSample(
                at_s=float(at), read_bytes_per_s=(0.0, 0.0), written_bytes_per_s=(float("nan"), 1e9),
                oss_cpu_percent=(), mds_cpu_percent=0.0, mds_ops_per_s=0.0,
            )
            for at in range(500, 2000, 5)
        ],
    )  # fmt: skip
    return store


def test_a_heat_map_shows_every_ost_from_before_the_start_to_after_the_end():
    first, second = heat.around(watched().job_logs, "17")
    assert first.picture is not None
    assert all(name in first.picture for name in OSTS)
    assert "954 MiB/s" in first.picture
    assert second.picture is None
    assert "No samples" in heat.page_of(watched().job_logs, "17", around_s=300.0)


def test_a_job_that_nobody_logged_is_one_line():
    with pytest.raises(NotFoundError, match="job 99"):
        heat.around(MemoryStore().job_logs, "99")
