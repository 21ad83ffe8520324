"""The analysis worker: load samples, fit, store; at the end of a campaign, judge all of it at once (DESIGN 9)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from analysis import mixture, modality, sample_size
from analysis.arrays import Array
from orchestrator.contracts import metrics
from orchestrator.contracts.analyses import Analysis, Batch, Fitted, Judgement, Result
from orchestrator.contracts.errors import UnavailableError
from orchestrator.contracts.rounds import ADAPTIVE
from orchestrator.store import rules
from orchestrator.store.ports import Store
from workers import confirming, growing

logger = logging.getLogger(__name__)

BATCH = 50
FLAGS = 4
"""Leased together for each process; one takes up to a second."""
MANY = 10**9
"""Stands for a number of runs without end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _OfStudy:
    """What the analysis of one sample asks of its study."""

    unit: str
    plan: sample_size.Plan | None
    """Of an adaptive one."""


class Analyst:
    """Works through the ledger's open analyses; any number may do so side by side."""

    def __init__(self, store: Store, *, processes: int = 1) -> None:
        self._store = store
        self._processes = processes
        self._leaving = False
        self._of_study: dict[int, _OfStudy] = {}
        """By campaign: a study is large, and asked for once."""

    def leave(self) -> None:
        """End after the batch in hand."""
        self._leaving = True

    def work(self) -> None:
        """Everything there is to do now. A database that is away is asked again at the next hint."""
        try:
            self._fit_what_is_due()
            growing.decide(self._store)
            for campaign_id in self._store.analyses.unjudged(mixture.VERSION):
                self._judge(campaign_id)
        except UnavailableError as away:
            logger.warning("analysis waits: %s", away)

    def _fit_what_is_due(self) -> None:
        while not self._leaving and (batch := self._store.analyses.lease(mixture.VERSION, limit=BATCH)):
            with _held(partial(self._store.analyses.renew, batch)):
                self._store.analyses.store(batch, self._fit(batch))

    def _fit(self, batch: Batch) -> list[Result]:
        """Fit samples that share their options in one call."""
        results: list[Result] = []
        for options, analyses in _by_options(batch.analyses):
            samples = [np.asarray(analysis.sample) for analysis in analyses]
            begin = time.monotonic()
            found = mixture.select_many(samples, options=options, processes=self._processes)
            fit_s = (time.monotonic() - begin) / len(samples)
            of_these = (self._result(analysis, one, options) for analysis, one in zip(analyses, found, strict=True))
            results += [replace(result, fit_s=fit_s) for result in of_these]
        return results

    def _result(
        self, analysis: Analysis, found: mixture.Selection | mixture.Failure, options: mixture.Options
    ) -> Result:
        """A provisional verdict: its dip p stands for the q that only the whole campaign can give."""
        if isinstance(found, mixture.Failure):
            return Result(
                analysis_id=analysis.id, digest=analysis.digest, selection=None, verdict=None, sentence=None,
                error=found.message,
            )  # fmt: skip
        study, sample = self._study(analysis.campaign_id), np.asarray(analysis.sample)
        verdict = modality.verdict(found, dip_q=found.dip_p, options=options, unit=study.unit)
        return Result(
            analysis_id=analysis.id, digest=analysis.digest, selection=found.as_dict(), verdict=str(verdict.kind),
            sentence=verdict.sentence, median=float(np.median(sample)),
            variation=_variation(sample), family_bics=_family_bics(found),
            needed_runs=_needed(study.plan, analysis, sample, found, options),
        )  # fmt: skip

    def _study(self, campaign_id: int) -> _OfStudy:
        if campaign_id not in self._of_study:
            study = self._store.campaigns.study(campaign_id)
            adaptive: Any = study.study.get(ADAPTIVE)
            self._of_study[campaign_id] = _OfStudy(
                unit=metrics.of(study.engine, study.engine_options).unit,
                plan=None if adaptive is None else sample_size.Plan.from_dict(adaptive),
            )
        return self._of_study[campaign_id]

    def _judge(self, campaign_id: int) -> None:
        """Final verdicts: the dip test's false discoveries are controlled over the whole campaign.

        Selections are read one at a time: those of a whole study do not fit into memory together.
        """
        study = self._store.campaigns.study(campaign_id)
        options = mixture.Options.from_dict(dict(study.analysis_options))
        unit = metrics.of(study.engine, study.engine_options).unit
        configurations = self._store.campaigns.configurations(campaign_id)
        tested = [one for one in configurations if one.dip_p is not None]
        dip_q = modality.dip_q_values([one.dip_p for one in tested if one.dip_p is not None])
        q_of = {(one.setting_id, one.mode): q for one, q in zip(tested, dip_q, strict=True)}
        if study.parent_id is not None:
            self._store.flags.plan(campaign_id, confirming.repeated(self._store, study.parent_id, configurations))
            self._confirm(campaign_id, options, unit)
        confirmed = self._store.flags.found(campaign_id)
        if confirmed is None:
            return  # who judges the last flag goes on from here
        with closing(self._store.analyses.fitted(campaign_id)) as fitted:
            judgements = [
                replace(
                    _judgement(one, q_of[one.setting_id, one.mode], options, unit), confirmation=confirmed.get(one.id)
                )
                for one in fitted
                if one.selection is not None
            ]
        self._store.analyses.judge(campaign_id, mixture.VERSION, judgements)

    def _confirm(self, campaign_id: int, options: mixture.Options, unit: str) -> None:
        """Judge flags that were measured again, as long as some are free. Fits go first: somebody may wait for them."""
        flags = self._store.flags
        while not self._leaving and (batch := flags.lease(campaign_id, limit=FLAGS * self._processes)):
            with _held(partial(flags.renew, batch)):
                flags.store(batch, confirming.confirm(batch, options=options, unit=unit, processes=self._processes))
            self._fit_what_is_due()


@contextmanager
def _held(renew: Callable[[], int]) -> Iterator[None]:
    """However long a batch takes, its lease goes on while we live; of a dead worker it is soon another's."""
    over = threading.Event()
    keeper = threading.Thread(target=_keep, args=(renew, over), name="lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()


def _keep(renew: Callable[[], int], over: threading.Event) -> None:
    while not over.wait(rules.ANALYSIS_LEASE_S / 3):
        try:
            renew()
        except UnavailableError as away:
            logger.warning("the lease of a batch is not renewed: %s", away)


def _by_options(analyses: Sequence[Analysis]) -> list[tuple[mixture.Options, list[Analysis]]]:
    grouped: dict[mixture.Options, list[Analysis]] = {}
    for analysis in analyses:
        grouped.setdefault(mixture.Options.from_dict(dict(analysis.options)), []).append(analysis)
    return list(grouped.items())


def _needed(
    plan: sample_size.Plan | None, analysis: Analysis, sample: Array, found: mixture.Selection, options: mixture.Options
) -> int | None:
    """Runs that an adaptive campaign is to make, of which as large a share is set aside as of those there are."""
    if plan is None:
        return None
    needed = plan.needed(sample, found, options, [str(job) for job in analysis.jobs])
    return min(-(-needed * analysis.runs // len(sample)), MANY)


def _variation(sample: Array) -> float | None:
    """Coefficient of variation."""
    mean = float(np.mean(sample))
    return None if mean == 0 else float(np.std(sample, ddof=1)) / mean


def _family_bics(found: mixture.Selection) -> dict[str, float]:
    """Family -> BIC of its best fit."""
    best: dict[str, float] = {}
    for fit in found.table:
        best[fit.family] = min(fit.bic, best.get(fit.family, fit.bic))
    return best


def _judgement(one: Fitted, dip_q: float, options: mixture.Options, unit: str) -> Judgement:
    selection = mixture.Selection.from_dict(dict(one.selection or {}))
    verdict = modality.verdict(selection, dip_q=dip_q, options=options, unit=unit)
    return Judgement(analysis_id=one.id, dip_q=dip_q, verdict=str(verdict.kind), sentence=verdict.sentence)
