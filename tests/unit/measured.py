"""A study measured and analysed in an in-memory store, with throughputs that are drawn, not measured."""

from __future__ import annotations

from itertools import count
from uuid import uuid4

import numpy as np

from orchestrator.contracts.campaigns import Campaign
from orchestrator.contracts.jobs import Assignment, Ending, Failure, FailureKind, Pending
from orchestrator.contracts.nodes import Hello
from orchestrator.contracts.runs import Run
from orchestrator.design import study
from orchestrator.design.submission import rerun, submission
from orchestrator.store.memory import MemoryStore
from workers.analyse import Analyst

STUDY = """
name: two settings
design:
  blocks:
    - levels: {file_size_kb: [64, 1024], record_size_kb: [16], threads: [2]}
      modes: [initial_writers, readers]
replicates: 60
replicates_per_job: 30
engine: builtin
analysis: {families: [normal, lognormal], max_components: 2}
controls:
  bimodal: {mixture: "normal:0.65,900000,30000;0.35,1200000,40000", seed: 7}
"""
NODE = "local-1"
RUN_S = 0.25


class Laboratory:
    """One node that carries out whatever is offered: readers of 1 MB have two modes, all else has one."""

    def __init__(self, store: MemoryStore, *, engines: tuple[str, ...] = ("builtin", "replay")) -> None:
        self.store = store
        self.session = uuid4()
        self._sequence = count()
        self._rng = np.random.default_rng(3)
        store.nodes.hello(
            Hello(
                node=NODE,
                session=self.session,
                boot_id="9a1b",
                version="0.1.0",
                engines=dict.fromkeys(engines, "1"),
                facts={"cpu_model": "Imaginary 9000"},
            )
        )

    def submit(self, text: str = STUDY) -> Campaign:
        """Submit a study behind the service's back."""
        campaign, _ = self.store.campaigns.submit(submission(study.load(text, where="study.yaml")))
        return campaign

    def rerun_flagged(self, campaign_id: int) -> Campaign:
        """A child campaign of what is flagged."""
        campaigns = self.store.campaigns
        flagged = campaigns.configurations(campaign_id, verdict="multimodal")
        ordinals = {found.ordinal for found in flagged}
        parent, design = campaigns.study(campaign_id), campaigns.design(campaign_id)
        child, _ = campaigns.submit(rerun(parent, design, ordinals, seed=1, parent_id=campaign_id))
        return child

    def work_off(self) -> None:
        """Measure everything, and analyse it."""
        while self.work():
            pass
        self.store.control.reconcile()
        Analyst(self.store).work()

    def work(self) -> bool:
        """Carry out one job; False when none is offered."""
        job = self._take()
        if job is None:
            return False
        self.store.runs.record([self._run(job, pending) for pending in job.pending])
        return self.store.jobs.finish(job.job_id, job.token, Ending.COMPLETE)

    def fail_once(self) -> None:
        """A run that is invalid, of a job that is then given back."""
        job = self._take()
        assert job is not None
        self.store.runs.record([self._run(job, job.pending[0], reason="the benchmark ended with status 1")])
        self.store.jobs.finish(job.job_id, job.token, Ending.RELEASE)

    def fail_for_good(self) -> None:
        """Every job fails as often as it takes to set it aside."""
        reason = Failure(kind=FailureKind.STUDY, reason="this node cannot do that")
        while (job := self._take()) is not None:
            self.store.jobs.finish(job.job_id, job.token, Ending.FAIL, reason)
        self.store.control.reconcile()

    def _take(self) -> Assignment | None:
        self.store.control.dispatch()
        offers = self.store.control.unheard(older_than_s=0)
        return self.store.jobs.claim(min(offer.job_id for offer in offers), self.session) if offers else None

    def _run(self, job: Assignment, pending: Pending, *, reason: str | None = None) -> Run:
        return Run(
            id=uuid4(),
            campaign_id=job.campaign_id,
            setting_id=job.setting_id,
            job_id=job.job_id,
            attempt=job.attempt,
            replicate=pending.replicate,
            try_number=pending.attempt,
            session=self.session,
            sequence=next(self._sequence),
            started_at=1.6e9 + pending.replicate,
            elapsed_s=RUN_S,
            engine=job.engine,
            engine_version="1",
            exit_status=0 if reason is None else 1,
            values=tuple(self._value(job, mode) for mode in job.modes) if reason is None else (),
            valid=reason is None,
            reason=reason,
        )

    def _value(self, job: Assignment, mode: str) -> float:
        two_modes = not job.levels or (mode == "readers" and job.setting["file_size_kb"] == 1024)
        slow = two_modes and self._rng.random() < 0.4
        return round(float(self._rng.normal(900_000 if slow else 1_200_000, 20_000)), 2)
