"""Confirming verdicts: what a re-run says about the flags of the campaign that it re-runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import numpy as np

from analysis import confirmation, mixture, modality
from analysis.errors import AnalysisError
from orchestrator.contracts.analyses import Fitted
from orchestrator.contracts.campaigns import Configuration
from orchestrator.store.ports import Store

logger = logging.getLogger(__name__)

FLAGGED = "multimodal"
Key = tuple[int, str]
"""Setting and mode."""


def confirmations(
    store: Store, parent_id: int, again: list[Configuration], *, options: mixture.Options, unit: str
) -> Mapping[int, Mapping[str, Any]]:
    """Analysis id -> confirming verdict, of the configurations `again` of a re-run that were flagged in `parent_id`.

    The new dip tests are controlled over just these. Nothing where the parent's rows are archived.
    """
    if not again or store.campaigns.get(parent_id).archive is not None:
        return {}
    flagged = {one.identity: one for one in store.campaigns.configurations(parent_id, verdict=FLAGGED)}
    tested = [one for one in again if one.identity in flagged and one.dip_p is not None]
    dip_q = modality.dip_q_values([one.dip_p for one in tested if one.dip_p is not None])
    q_of = {_key(one): q for one, q in zip(tested, dip_q, strict=True)}
    first_of = {_key(one): _key(flagged[one.identity]) for one in tested}
    wanted = set(first_of.values())
    firsts = {_key(one): one for one in store.analyses.fitted(parent_id, verdict=FLAGGED) if _key(one) in wanted}
    found: dict[int, Mapping[str, Any]] = {}
    with closing(store.analyses.fitted(again[0].campaign_id)) as fitted:
        for one in fitted:
            if first_of.get(_key(one)) not in firsts or one.selection is None:
                continue
            try:
                found[one.id] = _confirmed(firsts[first_of[_key(one)]], one, q_of[_key(one)], options, unit)
            except AnalysisError as error:  # one that cannot be judged keeps no other from its verdict
                logger.warning("setting %s, %s: no confirming verdict: %s", one.setting_id, one.mode, error)
    return found


def _key(one: Configuration | Fitted) -> Key:
    return one.setting_id, one.mode


def _confirmed(first: Fitted, again: Fitted, dip_q: float, options: mixture.Options, unit: str) -> Mapping[str, Any]:
    """The same for the same runs: its draws are seeded."""
    found = confirmation.confirm(
        mixture.Selection.from_dict(dict(first.selection or {})),
        mixture.Selection.from_dict(dict(again.selection or {})),
        dip_q=dip_q,
        samples=(np.asarray(first.sample), np.asarray(again.sample)),
        options=options,
        rng=np.random.default_rng([options.seed, again.setting_id]),
        unit=unit,
    )
    return found.as_dict()
