"""`modescope logs ingest` and `table` on a real PostgreSQL."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from orchestrator.cli.logs.commands import logs
from orchestrator.store.postgres import PostgresStore
from tests.contract.test_store_job_logs import LOG, SYSTEM, sample

SACCT = "JobID|User|Partition|NNodes|Start|End\n17|eve|knl|2|1970-01-01T00:01:40|1970-01-01T00:03:20\n"


@pytest.fixture
def run(database_url: str, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """The command on that database."""
    monkeypatch.setenv("MODESCOPE_DATABASE_URL", database_url)

    def command(*arguments: object) -> Result:
        return CliRunner().invoke(logs, [str(one) for one in arguments], standalone_mode=False)

    return command


def test_logs_are_kept_once_and_come_back_as_one_table(run, database_url: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    dump = tmp_path / "sacct.txt"
    dump.write_text(SACCT)
    store = PostgresStore(database_url)
    store.job_logs.add_program_logs([replace(LOG, features={**LOG.features, "Throughput": 7.0})])
    store.job_logs.add_samples(SYSTEM, [sample(at_s) for at_s in (105.0, 110.0, 170.0, 175.0)])
    store.close()
    for new in (1, 0):
        result = run("ingest", "--slurm", dump, "--mount", "/scratch=snx", "--json")
        assert result.exception is None, result.exception
        told = json.loads(result.stdout)
        assert told["scheduled_jobs"] == {"read": 1, "new": new}
        assert told["matched"]["with_job"] == told["matched"]["with_file_system"] == 1
    out = tmp_path / "jobs.csv"
    assert run("table", "--out", out).exception is None
    (row,) = csv.DictReader(out.read_text().splitlines())
    assert (row["UserName"], row["Partition"], row["FileSystem"], row["NumNodes"]) == ("eve", "knl", "snx", "2")
    assert (row["ossWriteMean"], row["mdsCPU95"], row["WriteBytesPct"]) == ("3", "3.5", "66.66666667")
