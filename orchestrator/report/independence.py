"""How independent the runs of a campaign are: a number of configurations, looked at one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.attribution import Runs
from analysis.attribution.dependence import Dependence, dependence
from orchestrator.contracts.campaigns import Configuration
from orchestrator.report import picking
from orchestrator.report.section import Subject

MOST = 60
"""Configurations that are looked at, spread over the design."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Independence:
    """What the runs of a job, and neighbouring runs, share."""

    looked_at: int
    alike: int
    """Configurations in which the interval of the intraclass correlation by job excludes 0."""
    share: float
    """The median of effective n / n among those; 1 where there are none."""
    lag_one: float | None
    """The median of the correlation of neighbouring runs of a node."""


def of(subject: Subject) -> Independence | None:
    """None where nothing is fitted yet."""
    found = [_of(subject, one) for one in picking.spread(subject.configurations, MOST)]
    if not found:
        return None
    alike = [one for one, _ in found if one.by_job is not None and one.by_job.excludes_zero]
    shares = [one.effective_n / n for one, n in found if one in alike]
    lags = [one.lag_one for one, _ in found if one.lag_one is not None]
    return Independence(
        looked_at=len(found),
        alike=len(alike),
        share=float(np.median(shares)) if shares else 1.0,
        lag_one=float(np.median(lags)) if lags else None,
    )


def _of(subject: Subject, one: Configuration) -> tuple[Dependence, int]:
    made = subject.store.findings.circumstances(one.campaign_id, one.setting_id)
    runs = Runs(
        values=np.array([run.values[one.mode] for run in made]),
        nodes=tuple(run.node for run in made),
        jobs=tuple(str(run.job) for run in made),
    )
    return dependence(runs), runs.n
