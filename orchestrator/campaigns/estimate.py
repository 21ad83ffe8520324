"""How long a study will take, before its first run: from what past campaigns cost, or from the defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array
from analysis.service_rate import cost
from analysis.service_rate.time_left import jobs_one_by_one, time_left, with_more_nodes
from orchestrator.campaigns.forecast import shortened
from orchestrator.campaigns.speed import Costs, Speed, features, kinds, prior_s
from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.rates import Duration
from orchestrator.design.study import Study
from orchestrator.design.submission import submission
from orchestrator.store.ports import Store

PAST_CAMPAIGNS = 3
PAST_JOBS = 500
"""Of each of them, the newest."""


@dataclass(frozen=True, kw_only=True)
class Past:
    """What one campaign tells of costs."""

    campaign_id: int
    speed: Speed
    costs: Costs


def in_ledger(study: Study, store: Store, *, nodes: int) -> Duration:
    """From the newest campaigns on the same engine and factors, where there are any."""
    return estimate(study, nodes=nodes, past=_past(study, store))


def estimate(study: Study, *, nodes: int, past: Sequence[Past] = ()) -> Duration:
    """Fit one cost model to all of them; the interval holds what is not known, and nodes lost or slowed on the way."""
    in_lockstep = study.placement.kind == "lockstep"  # who does it need not be known to tell how long it takes
    wanted = submission(study, nodes=[f"n{place}" for place in range(max(2, nodes))] if in_lockstep else ())
    jobs = sorted(wanted.jobs, key=lambda job: job.position)
    open_jobs = shortened(
        np.array([job.setting for job in jobs], dtype=np.int64),
        np.array([job.replicates for job in jobs], dtype=np.int64),
        between_jobs_s=float(np.median([one.speed.between_jobs_s for one in past])) if past else 0.0,
        last=jobs_one_by_one(nodes),
    )
    left = time_left(open_jobs, _model(wanted, past), with_more_nodes([], nodes), np.random.default_rng(0))
    return Duration(
        seconds=left.median_s or 0.0,
        low_s=left.low_s or 0.0,
        high_s=left.high_s or 0.0,
        nodes=nodes,
        runs=sum(len(one.costs.ran) for one in past),
        campaigns=[one.campaign_id for one in past],
    )


def _past(study: Study, store: Store) -> list[Past]:
    found: list[Past] = []
    for campaign in store.campaigns.all():
        same = campaign.engine == study.engine.name and set(campaign.factors) == set(study.design.factors)
        if same and campaign.archive is None and len(found) < PAST_CAMPAIGNS:
            speed = Speed(store.campaigns.study(campaign.id))
            speed.learn(store.rates.completions(campaign.id, jobs=PAST_JOBS))
            costs = speed.costs()
            if costs.learned:
                found.append(Past(campaign_id=campaign.id, speed=speed, costs=costs))
    return found


def _model(wanted: Submission, past: Sequence[Past]) -> cost.CostModel:
    """Of the study's settings, behind which those of past campaigns stand while it is fitted."""
    own = prior_s(wanted)
    first = np.cumsum([len(own), *(len(one.speed.prior_s) for one in past)])
    none: list[Array] = [np.empty(0)]
    fitted = cost.fit(
        [*features(wanted), *(row for one in past for row in one.speed.features)],
        np.concatenate([*none, *(one.costs.ran + at for one, at in zip(past, first, strict=False))]).astype(np.int64),
        np.concatenate([*none, *(one.costs.seconds for one in past)]),
        np.concatenate([own, *(one.speed.prior_s for one in past)]),
        kinds=[*kinds(wanted), *(kind for one in past for kind in one.speed.kinds)],
    )
    return cost.CostModel(
        log_s=fitted.log_s[: len(own)],
        sd=fitted.sd[: len(own)],
        common_sd=fitted.common_sd,
        residuals=fitted.residuals,
        by_factors=fitted.by_factors[: len(own)],
        own_counts_from=fitted.own_counts_from,
    )
