"""A pipeline of the product: runs leave an agent's spool and are taken in by the ledger, at the rate at which they
come; and alone, with the spool full from the start. By turns, for the machine is not the same from one minute to the
next.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np

from analysis.service_rate import Estimate, TimeEstimator
from orchestrator.contracts.runs import Run
from orchestrator.store.postgres import PostgresStore
from tests.benchmarks import ledgers
from tests.benchmarks.servers import migrated_database, private_postgres
from workers.spool import Spool

BATCH = 50
BATCHES_A_TURN = 20
LEDGER = UUID(int=7)


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Runs a second that ingest does alone, and that are estimated while it is fed; how many estimates went into it."""

    alone: float
    estimated: float
    completions: int

    @property
    def error(self) -> float:
        """Of the estimate, beside the rate alone."""
        return self.estimated / self.alone - 1


def measured(*, utilisation: float, turns: int, rng: np.random.Generator) -> Pipeline:
    """So many turns alone and as many fed, of twenty batches each."""
    with private_postgres() as cluster, migrated_database(cluster) as url, tempfile.TemporaryDirectory() as folder:
        store = PostgresStore(url, keep=1)
        session = ledgers.with_nodes(store)[0]
        campaign, _ = store.campaigns.submit(ledgers.xu2020(10))
        count = BATCH * BATCHES_A_TURN * (2 * turns + 1)
        runs = ledgers.runs_of(url, campaign.id, session, count, with_telemetry=True)
        spool = Spool(Path(folder), LEDGER)
        parts = [runs[at : at + count // (2 * turns + 1)] for at in range(0, count, count // (2 * turns + 1))]
        mean_s = float(np.mean(_turn(store, spool, parts.pop(), 0.0, rng)[0]))  # and what is loaded at first is loaded
        alone: list[float] = []
        estimator = TimeEstimator(work=BATCH)
        for _ in range(turns):
            alone += _turn(store, spool, parts.pop(), 0.0, rng)[0]
            service_s, waited = _turn(store, spool, parts.pop(), mean_s / utilisation, rng)
            for seconds in np.array(service_s)[np.array(waited)].tolist():
                estimator.add(time_s=time.perf_counter(), service_s=seconds)
        spool.close()
        store.close()
    found = estimator.current()
    if not isinstance(found, Estimate):
        return Pipeline(alone=BATCH / float(np.mean(alone)), estimated=float("nan"), completions=0)
    return Pipeline(alone=BATCH / float(np.mean(alone)), estimated=found.rate, completions=found.n)


def _turn(
    store: PostgresStore, spool: Spool, runs: Sequence[Run], between_s: float, rng: np.random.Generator
) -> tuple[list[float], list[bool]]:
    """Seconds of each batch, and whether it was waiting when the one before it ended; one comes every `between_s`."""
    for run in runs:
        spool.append(run)
    spool.sync()
    due = time.perf_counter() + np.cumsum(between_s * rng.standard_exponential(len(runs) // BATCH))
    service_s, waited = [], []
    ended = time.perf_counter()
    for arrives in due.tolist():
        waited.append(arrives <= ended)
        if arrives > ended:
            time.sleep(max(arrives - time.perf_counter(), 0.0))
            ended = time.perf_counter()  # nothing to do until now: the ledger was starved
        batch = spool.pending()[:BATCH]
        store.runs.record(batch)
        spool.acknowledge([run.id for run in batch])
        now = time.perf_counter()
        service_s.append(now - ended)
        ended = now
    return service_s, waited
