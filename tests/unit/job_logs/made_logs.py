"""Executions as `made_jobs` has them, as if Darshan had logged them."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.contracts.job_logs import ProgramLog
from tests.contract.test_store_job_logs import LOG
from tests.unit.analysis.made_jobs import made_jobs


def made_logs(count: int) -> list[ProgramLog]:
    """In the order of their start."""
    jobs = made_jobs(count)
    return [
        replace(
            LOG,
            digest=str(place),
            job_id=str(place),
            program=jobs.keys[place][1],
            started_s=float(jobs.start_s[place]),
            features={
                "Throughput": float(jobs.throughput[place]),
                "WriteBytesTotal": 1e9 if jobs.directions[place] == "write" else 1.0,
                "ReadBytesTotal": 2.0,
                "NumFile": 1.0,
            },
        )
        for place in range(count)
    ]
