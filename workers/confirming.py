"""Confirming verdicts: what a re-run says about the flags of the campaign that it re-runs, one flag at a time."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from analysis import confirmation, mixture, modality
from analysis.errors import AnalysisError
from analysis.mixture.many import each
from orchestrator.contracts.analyses import FLAGGED, FlagBatch, LeasedFlag, RepeatedFlag
from orchestrator.contracts.campaigns import Configuration
from orchestrator.store.ports import Store

logger = logging.getLogger(__name__)


def repeated(store: Store, parent_id: int, again: Sequence[Configuration]) -> list[RepeatedFlag]:
    """The configurations `again` of the re-run that were flagged in `parent_id`.

    The new dip tests are controlled over just these. None where the parent's rows are archived.
    """
    if not again or store.campaigns.get(parent_id).archive is not None:
        return []
    flagged = {one.identity: one for one in store.campaigns.configurations(parent_id, verdict=FLAGGED)}
    tested = [one for one in again if one.identity in flagged and one.dip_p is not None]
    dip_q = modality.dip_q_values([one.dip_p for one in tested if one.dip_p is not None])
    return [
        RepeatedFlag(
            setting_id=one.setting_id, first_setting_id=flagged[one.identity].setting_id, mode=one.mode, dip_q=q
        )
        for one, q in zip(tested, dip_q, strict=True)
    ]


def confirm(
    batch: FlagBatch, *, options: mixture.Options, unit: str, processes: int
) -> Mapping[int, Mapping[str, Any] | None]:
    """Analysis of the new runs -> confirming verdict of each flag of a batch, or None where it cannot be judged.

    The same for the same runs, in any batch and by any number of processes.
    """
    found = each(partial(_confirmed, options=options, unit=unit), batch.flags, processes, chunk=1)
    return {one.again.id: verdict for one, verdict in zip(batch.flags, found, strict=True)}


def _confirmed(one: LeasedFlag, *, options: mixture.Options, unit: str) -> Mapping[str, Any] | None:
    try:
        found = confirmation.confirm(
            mixture.Selection.from_dict(dict(one.first.selection or {})),
            mixture.Selection.from_dict(dict(one.again.selection or {})),
            dip_q=one.dip_q,
            samples=(np.asarray(one.first.sample), np.asarray(one.again.sample)),
            options=options,
            rng=np.random.default_rng([options.seed, one.again.setting_id]),
            unit=unit,
        )
    except AnalysisError as error:  # one that cannot be judged keeps no other from its verdict
        logger.warning("setting %s, %s: no confirming verdict: %s", one.again.setting_id, one.again.mode, error)
        return None
    return found.as_dict()
