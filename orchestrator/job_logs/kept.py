"""What the service keeps itself, evaluated: logs that were taken in, and the runs of a campaign with their telemetry.

For pages and reports, which may take seconds: of the newest jobs, or a part of a campaign's runs, with few trees.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec

from analysis.errors import AnalysisError
from orchestrator.campaigns.predictions import KEPT, Ledger
from orchestrator.contracts.errors import TableError
from orchestrator.contracts.job_logs import LogCounts
from orchestrator.job_logs import campaigns, ingesting
from orchestrator.job_logs.evaluating import Evaluated, How, Settings, evaluated
from orchestrator.job_logs.jobs import Columns
from orchestrator.job_logs.table import JobTable, as_jobs_table
from orchestrator.store.ports import Store

MOST = 1500
"""Jobs, or values of runs."""
FEWEST = 100
HOW = How(with_paper=False, forest=40)
"""The published procedure would take longer than all else together: `modescope logs report` has it."""


def of_logs(store: Store) -> Evaluated | None:
    """Of the newest executions; None where there are too few, or scikit-learn is not installed."""
    counts = store.job_logs.counts()
    if find_spec("sklearn") is None or counts.program_logs < FEWEST:
        return None
    return _of_logs(Ledger(store=store, id=store.ledger), counts, tuple(sorted(store.job_logs.mounts().items())))


def of_campaign(store: Store, campaign_id: int) -> Evaluated | None:
    """Of runs that tell what their nodes were like in numbers; None where too few do, or scikit-learn is missing."""
    if find_spec("sklearn") is None:
        return None
    return _of_campaign(Ledger(store=store, id=store.ledger), campaign_id, store.campaigns.version(campaign_id))


@lru_cache(maxsize=KEPT)
def _of_logs(ledger: Ledger, _counts: LogCounts, _mounts: tuple[tuple[str, str], ...]) -> Evaluated | None:
    rows = [one.row for one in ingesting.joined(ledger.store.job_logs, newest=MOST)]
    return _evaluated(as_jobs_table(rows, name="the logs of jobs"))


@lru_cache(maxsize=KEPT)
def _of_campaign(ledger: Ledger, campaign_id: int, _version: str) -> Evaluated | None:
    rows = list(campaigns.rows_of(ledger.store, campaign_id, most=MOST))
    if len(rows) < FEWEST or not any(name.startswith(campaigns.OBSERVED) for row in rows for name in row):
        return None
    return _evaluated(as_jobs_table(rows, name=f"campaign {campaign_id}"))


def _evaluated(table: JobTable) -> Evaluated | None:
    settings = Settings(columns=Columns(), seed=0, processes=1)
    try:
        return evaluated(table, settings, HOW, report=lambda _: None)
    except (TableError, AnalysisError):  # no throughput, or too few of them
        return None
