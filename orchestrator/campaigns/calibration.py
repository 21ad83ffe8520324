"""The false-flag rate is measured on controls, not assumed."""

from __future__ import annotations

from scipy import stats

from analysis.mixture import Fit, Options
from orchestrator.contracts.analyses import FLAGGED
from orchestrator.contracts.calibration import Calibration, Rate
from orchestrator.contracts.confirmations import Outcome
from orchestrator.contracts.mixtures import Mixture
from orchestrator.store.ports import Store

ENDLESS = 1_000_000
"""Runs that the truth is said to rest on: none of its modes is too small to count for want of runs."""


def calibration(store: Store, campaign_id: int) -> Calibration:
    """Count the verdicts on controls with one mode, and on those with several. Raises NotFoundError."""
    study = store.campaigns.study(campaign_id)
    options = Options.from_dict(dict(study.analysis_options))
    several = {name for name, one in study.controls.items() if modes(str(one["mixture"]), options) > 1}
    found = [one for one in store.campaigns.configurations(campaign_id) if one.control is not None and one.verdict]
    again = _confirmations(store, campaign_id)
    nulls = [one for one in found if one.control not in several]
    others = [one for one in found if one.control in several]
    return Calibration(
        false_flags=_rate(sum(one.verdict == FLAGGED for one in nulls), len(nulls)),
        found=_rate(sum(one.verdict == FLAGGED for one in others), len(others)),
        false_confirmations=_rate(sum(again.get(one.control) == Outcome.CONFIRMED for one in nulls), len(nulls)),
        confirmed=_rate(
            sum(again.get(one.control) == Outcome.CONFIRMED for one in others),
            sum(one.control in again for one in others),
        ),
    )


def modes(notation: str, options: Options) -> int:
    """How many density modes a known mixture has, by the thresholds of the analysis. Raises StudyError."""
    mixture = Mixture.parse(notation)
    truth = Fit(
        family=mixture.family,
        weights=tuple(one.weight for one in mixture.components),
        locations=tuple(one.mean for one in mixture.components),
        scales=tuple(one.standard_deviation for one in mixture.components),
        loglik=0.0,
        n=ENDLESS,
        converged=True,
        iterations=0,
        at_floor=(False,) * len(mixture.components),
    )
    return len(truth.density_modes(options))


def _confirmations(store: Store, campaign_id: int) -> dict[str | None, Outcome]:
    """Control -> what re-runs said of it; one that was confirmed once stays so."""
    children = [one.id for one in store.campaigns.all() if one.parent_id == campaign_id and one.archive is None]
    found = [one for child in children for one in store.campaigns.configurations(child) if one.control]
    said = {one.control: one.confirmation.outcome for one in found if one.confirmation is not None}
    confirmed = {
        one.control: Outcome.CONFIRMED
        for one in found
        if one.confirmation is not None and one.confirmation.outcome is Outcome.CONFIRMED
    }
    return said | confirmed


def _rate(count: int, of: int) -> Rate:
    if of == 0:
        return Rate(count=0, of=0, low=0.0, high=1.0)
    interval = stats.binomtest(count, of).proportion_ci(0.95, method="exact")
    return Rate(count=count, of=of, low=float(interval.low), high=float(interval.high))
