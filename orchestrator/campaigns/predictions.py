"""What the configurations of a campaign that have no fit yet would measure, from those that have one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

import numpy as np

from orchestrator.contracts.analyses import Fitted
from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.designs import Level
from orchestrator.contracts.errors import ConflictError
from orchestrator.store.ports import Store

MODE = "mode"
KEPT = 16
"""Campaigns whose predictions are kept while nothing changes in them."""
LEARNT_FROM = 500
"""Configurations at most, drawn at random: a page may take seconds, a file that `modescope predict` reads minutes."""
TREES = 40
TENTH, MEDIAN, NINTH = 9, 49, 89


@dataclass(frozen=True, kw_only=True, slots=True)
class Predicted:
    """A configuration without a fit, and what it would measure; in the unit of the campaign's metric."""

    setting_id: int
    mode: str
    levels: tuple[Level, ...]
    valid_runs: int
    """That it has already."""
    median: float
    median_low: float
    """80 % band of its sample's median."""
    median_high: float
    q10: float
    q90: float
    p_multimodal: float | None
    """The chance that it would be flagged; None where no verdict tells."""
    extrapolated: bool
    """Beyond what was measured: trust it least."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CampaignPredictions:
    """All that is predicted for a campaign, and from how much."""

    measured: int
    """Configurations with a fit, controls aside."""
    learnt_from: int
    """Of these."""
    predicted: tuple[Predicted, ...]
    """In order of setting and mode; empty where all is measured."""


def of_campaign(store: Store, campaign_id: int) -> CampaignPredictions:
    """Raises NotFoundError, and ConflictError where too little is measured to predict from."""
    return _of_campaign(Ledger(store=store, id=store.ledger), campaign_id, store.campaigns.version(campaign_id))


@dataclass(frozen=True, kw_only=True, eq=False)
class Ledger:
    """A store as a part of a key: of one ledger, there is one version of each campaign."""

    store: Store
    id: UUID

    def __hash__(self) -> int:
        return hash(self.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and other.id == self.id


@lru_cache(maxsize=KEPT)
def _of_campaign(ledger: Ledger, campaign_id: int, _version: str) -> CampaignPredictions:
    store = ledger.store
    every = [one for one in store.campaigns.configurations(campaign_id) if one.control is None]
    fitted = {(one.setting_id, one.mode): one for one in store.analyses.fitted(campaign_id) if one.selection}
    measured = [one for one in every if (one.setting_id, one.mode) in fitted]
    missing = [one for one in every if (one.setting_id, one.mode) not in fitted]
    if not missing:
        return CampaignPredictions(measured=len(measured), learnt_from=0, predicted=())
    drawn = np.sort(np.random.default_rng(campaign_id).permutation(len(measured))[:LEARNT_FROM])
    known = [measured[at] for at in drawn]
    names = (*store.campaigns.get(campaign_id).factors, MODE)
    found = _predicted(names, known, [fitted[one.setting_id, one.mode] for one in known], missing)
    return CampaignPredictions(measured=len(measured), learnt_from=len(known), predicted=found)


def _predicted(
    names: Sequence[str], known: Sequence[Configuration], fits: Sequence[Fitted], missing: Sequence[Configuration]
) -> tuple[Predicted, ...]:
    from analysis.errors import AnalysisError
    from analysis.mixture import Selection
    from analysis.prediction import Predictor, evidence

    selections = [Selection.from_dict(dict(fit.selection or {})) for fit in fits]
    samples = [fit.sample for fit in fits]
    try:
        predictor = Predictor.fit(
            names, [labels(one) for one in known], samples, modality=evidence(selections), trees=TREES
        )
        found = predictor.predict([labels(one) for one in missing])
    except AnalysisError as error:
        raise ConflictError(f"nothing can be predicted: {error}") from error
    chance = found.p_multimodal
    return tuple(
        Predicted(
            setting_id=one.setting_id,
            mode=one.mode,
            levels=one.levels,
            valid_runs=one.valid_runs,
            median=float(found.quantiles[at, MEDIAN]),
            median_low=float(found.low[at, MEDIAN]),
            median_high=float(found.high[at, MEDIAN]),
            q10=float(found.quantiles[at, TENTH]),
            q90=float(found.quantiles[at, NINTH]),
            p_multimodal=None if chance is None else float(chance.multimodal[at]),
            extrapolated=bool(found.extrapolated[at]),
        )
        for at, one in enumerate(missing)
    )


def labels(one: Configuration) -> tuple[str, ...]:
    """Its levels and mode as text, in the order of the factors and `MODE`."""
    return (*(str(level) for level in one.levels), one.mode)
