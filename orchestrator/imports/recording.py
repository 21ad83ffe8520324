"""Into the ledger, through the store's ports: doing it twice, or again after an interruption, changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import islice
from uuid import NAMESPACE_URL, UUID, uuid5

from orchestrator.contracts.campaigns import Campaign, State, Submission
from orchestrator.contracts.engines import IMPORTED
from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.jobs import Job
from orchestrator.contracts.nodes import Hello, Node
from orchestrator.contracts.runs import Run
from orchestrator.store.ports import Store

RUNS_AT_ONCE = 2000
JOBS_AT_ONCE = 1000
LACKING = "it was not measured where this was imported from"
_NAMESPACE = uuid5(NAMESPACE_URL, "modescope:import")


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedRun:
    """A run, and which job and replicate it is of."""

    number: int
    """Tells it from all others of the same data."""
    position: int
    """Of its job."""
    replicate: int
    try_number: int
    node: str
    started_at: float
    elapsed_s: float
    values: tuple[float, ...]
    valid: bool
    reason: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """Of all runs, counted while they are checked: there may be millions, read anew each time."""

    valid: int
    invalid: Mapping[str, int]
    """Reason -> runs, the most frequent first."""
    nodes: Mapping[str, int]
    """Node -> runs, by name."""

    @classmethod
    def of(cls, runs: Iterable[PlacedRun]) -> Totals:
        """Count them."""
        valid, invalid, nodes = 0, Counter[str](), Counter[str]()
        for run in runs:
            valid += run.valid
            nodes[run.node] += 1
            if not run.valid:
                invalid[run.reason or "unknown"] += 1
        return cls(valid=valid, invalid=dict(invalid.most_common()), nodes=dict(sorted(nodes.items())))


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What is to be recorded."""

    submission: Submission
    """Pinned to the nodes that did its jobs: they are never at work here, so nothing is ever handed out."""
    digest: str
    """Of the data and how they are read; all ids follow from it."""
    runs: Callable[[], Iterable[PlacedRun]]
    """Anew each time, in the order in which they were made."""
    totals: Totals
    cancelled: bool = False
    """It was, where it comes from."""

    @property
    def nodes(self) -> list[str]:
        """By name: who measured, and to whom what is lacking is pinned."""
        return sorted({*self.totals.nodes, *(job.node for job in self.submission.jobs if job.node is not None)})


def record(
    store: Store, wanted: Wanted, *, progress: Callable[[int], None] = lambda _runs: None
) -> tuple[Campaign, bool]:
    """Submit, and record every run; True when the campaign is new. `progress` hears how many runs there are so far.

    Raises ConflictError when the ledger holds a run of the same id with other values.
    """
    name_of = _names(store, wanted)
    jobs = [replace(job, node=None if job.node is None else name_of[job.node]) for job in wanted.submission.jobs]
    campaign, new = store.campaigns.submit(replace(wanted.submission, jobs=jobs))
    if campaign.state is not State.RUNNING:
        return campaign, False
    session_of = {node: _open(store, wanted, node, name) for node, name in name_of.items()}
    job_at = {job.position: job for job in _all_jobs(store, campaign.id)}
    runs, recorded = _as_recorded(wanted, campaign.id, job_at, session_of), 0
    while batch := list(islice(runs, RUNS_AT_ONCE)):
        receipt = store.runs.record(batch)
        if receipt.conflicting:
            raise ConflictError(f"campaign {campaign.id} holds run {receipt.conflicting[0]} with other values")
        recorded += len(batch)
        progress(recorded)
    if wanted.cancelled:
        return store.campaigns.cancel(campaign.id), new
    store.campaigns.give_up(campaign.id, LACKING)
    return store.campaigns.get(campaign.id), new


def _names(store: Store, wanted: Wanted) -> dict[str, str]:
    """Node of the data -> its name here: another one where an agent bears it, whose session must not be ended."""
    known = {node.name: node for node in store.nodes.all()}
    return {node: f"{node[:54]}.imported" if _has_agent(known.get(node)) else node for node in wanted.nodes}


def _has_agent(node: Node | None) -> bool:
    return node is not None and bool(node.engines)


def _open(store: Store, wanted: Wanted, node: str, name: str) -> UUID:
    """A session that ends as it begins: its node is never online."""
    session = uuid5(_NAMESPACE, f"{wanted.digest} {node}")
    facts = {"imported_from": str(wanted.submission.engine_options["source"])}
    store.nodes.hello(Hello(node=name, session=session, boot_id=IMPORTED, version=version("modescope"), facts=facts))
    store.nodes.goodbye(session)
    return session


def _all_jobs(store: Store, campaign_id: int) -> Iterator[Job]:
    after = -1
    while jobs := store.jobs.of_campaign(campaign_id, after=after, limit=JOBS_AT_ONCE):
        yield from jobs
        after = jobs[-1].position


def _as_recorded(
    wanted: Wanted, campaign_id: int, job_at: Mapping[int, Job], session_of: Mapping[str, UUID]
) -> Iterator[Run]:
    sequences: Counter[str] = Counter()
    for run in wanted.runs():
        job = job_at[run.position]
        yield Run(
            id=uuid5(_NAMESPACE, f"{wanted.digest} run {run.number}"),
            campaign_id=campaign_id,
            setting_id=job.setting_id,
            job_id=job.id,
            attempt=0,
            replicate=run.replicate,
            try_number=run.try_number,
            session=session_of[run.node],
            sequence=sequences[run.node],
            started_at=run.started_at,
            elapsed_s=run.elapsed_s,
            engine=IMPORTED,
            engine_version=version("modescope"),
            exit_status=None,
            values=run.values,
            valid=run.valid,
            reason=run.reason,
        )
        sequences[run.node] += 1
