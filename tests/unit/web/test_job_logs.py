"""The pages of logs of jobs: what there is, and what was written to each OST around one."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from orchestrator.contracts.job_logs import FileSystemSample, ScheduledJob
from orchestrator.job_logs import kept
from orchestrator.job_logs.evaluating import How
from orchestrator.store.memory import MemoryStore
from tests.contract.test_store_job_logs import LOG, SYSTEM
from tests.unit.job_logs.made_logs import made_logs


def take_in(store: MemoryStore) -> None:
    store.job_logs.add_program_logs([LOG, replace(LOG, digest="d2", job_id="18", mount="/home", started_s=500.0)])
    store.job_logs.add_scheduled_jobs([ScheduledJob(job_id="17")])
    store.job_logs.set_mounts({"/scratch": "snx"})
    samples = [
        FileSystemSample(
            at_s=float(at), read_bytes_per_s=(0.0, 0.0), written_bytes_per_s=(float(at), 2.0**20),
            oss_cpu_percent=(1.0,), mds_cpu_percent=1.0, mds_ops_per_s=1.0,
        )
        for at in range(0, 400, 5)
    ]  # fmt: skip
    store.job_logs.add_samples(SYSTEM, samples)


def test_without_logs_the_page_says_how_to_take_them_in(browser: httpx.Client) -> None:
    assert "modescope logs ingest" in browser.get("/logs").text


def test_executions_are_listed_with_what_they_were_joined_with(browser: httpx.Client, store: MemoryStore) -> None:
    take_in(store)
    shown = browser.get("/logs").text
    assert "2 executions" in shown
    assert "scheduler, file system" in shown
    assert shown.index("/logs/18") < shown.index("/logs/17")


def test_a_job_is_shown_on_every_ost(browser: httpx.Client, store: MemoryStore) -> None:
    take_in(store)
    shown = browser.get("/logs/17").text
    assert "<svg" in shown
    assert all(name in shown for name in SYSTEM.osts)
    assert "WriteBytesTotal" in shown
    assert "No samples" in browser.get("/logs/18").text


def test_a_job_that_nobody_logged_is_not_found(browser: httpx.Client) -> None:
    assert browser.get("/logs/99").status_code == 404


def test_with_few_logs_the_page_of_predictions_says_how_many_are_needed(
    browser: httpx.Client, store: MemoryStore
) -> None:
    take_in(store)
    shown = browser.get("/logs/predictions").text
    assert "2 executions with logs, and 100" in shown


def test_the_page_of_predictions_shows_models_errors_and_where_not_to_trust_them(
    browser: httpx.Client, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.setattr(kept, "HOW", How(with_paper=False, forest=5))
    store.job_logs.add_program_logs(made_logs(160))
    assert 'href="/logs/predictions"' in browser.get("/logs").text
    shown = browser.get("/logs/predictions").text
    for part in ("Models beside each other", "predicted over measured", "predicted / measured, by key", "not to trust"):
        assert part in shown
