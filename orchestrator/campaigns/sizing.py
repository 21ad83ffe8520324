"""How many runs a re-run makes of each setting, and on which nodes.

A re-run has one number of runs for all its settings: what is asked of the weakest flag, or of the configuration that
needs the most, decides. Ways to say it beside a plain number: node time, the power to see the flags again, and the
precision that the new runs alone shall reach.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any

from orchestrator.contracts.analyses import FLAGGED
from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.errors import ConflictError, RequestError
from orchestrator.contracts.nodes import NodeState
from orchestrator.store.ports import Store

SAME, ANY = "same", "any"
WEAKEST = 12
"""Flags with the smallest BIC gap whose power is worked out: the others need fewer runs."""
MOST = 900
"""Runs of a setting; more are made only where they are asked for by their number."""
SIZED = 1000
"""Configurations whose sample size is worked out while somebody waits: a few milliseconds each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How many runs of each setting: by at most one of these. By none: as many as before."""

    replicates: int | None = None
    hours: float | None = None
    """Of node time, over all nodes together."""
    power: float | None = None
    """Probability to see again what was flagged."""
    target: float | None = None
    """Standard errors of x_0.1 and x_0.9 that the new runs alone shall reach, as a share of x_0.9 - x_0.1."""


def replicates(store: Store, campaign_id: int, found: Sequence[Configuration], size: Size) -> int | None:
    """Runs of each setting of the configurations `found`; None: as many as the campaign planned.

    By no size, as many as before: the most that any of them has, where the campaign has grown.

    Raises ConflictError where the hours do not suffice, too many configurations are asked about, or nothing is known
    to tell from.
    """
    if size.hours is not None:
        return _in_hours(store, campaign_id, {one.setting_id for one in found}, size.hours)
    if size.power is not None:
        return _for_power(store, campaign_id, found, size.power)
    if size.replicates is None and store.campaigns.get(campaign_id).grows is not None:
        return max(one.replicates for one in found)
    if size.target is not None:
        return _for_target(store, campaign_id, found, size.target)
    return size.replicates


def shares(
    store: Store, campaign_id: int, found: Sequence[Configuration], nodes: str | Sequence[str]
) -> Mapping[int, Mapping[str, int]] | None:
    """Ordinal -> node -> weight; None: placed as the campaign was.

    By default the nodes that measured a setting, in the same proportions: on others a node's effect would vanish.
    Those that cannot work now are left out, for their share would wait for them. Raises RequestError for a node that
    is not known.
    """
    if nodes == ANY:
        return None
    ordinal_of = {one.setting_id: one.ordinal for one in found}
    if nodes != SAME:
        known = {node.name for node in store.nodes.all()}
        strange = [name for name in nodes if name not in known]
        if strange:
            raise RequestError(f"nodes: {strange[0]!r} is not known; there are {', '.join(sorted(known)) or 'none'}")
        return {ordinal: dict.fromkeys(nodes, 1) for ordinal in ordinal_of.values()}
    at_work = {node.name for node in store.nodes.all() if node.state is NodeState.READY and node.online}
    made = store.findings.shares(campaign_id, ordinal_of.keys())
    if at_work:  # when nobody is there at all, the service is being looked after, and its nodes come back
        made = {setting_id: _present(of_setting, at_work) for setting_id, of_setting in made.items()}
    return {ordinal_of[setting_id]: of_setting for setting_id, of_setting in made.items() if of_setting} or None


def _present(of_setting: Mapping[str, int], at_work: Collection[str]) -> dict[str, int]:
    return {node: runs for node, runs in of_setting.items() if node in at_work}


def _in_hours(store: Store, campaign_id: int, settings: Collection[int], hours: float) -> int:
    elapsed = store.findings.elapsed_s(campaign_id, settings)
    if not elapsed:
        raise ConflictError("hours: no run of these settings has ended yet to tell how long one takes; give replicates")
    round_s = fmean(elapsed.values()) * len(settings)
    count = int(hours * 3600 / round_s) if round_s > 0 else MOST
    least = _least(store, campaign_id)
    if count < least:
        needed = least * round_s / 3600
        raise ConflictError(
            f"hours: {hours:g} suffice for {count} runs of each of {len(settings)} settings; a verdict needs {least}, "
            f"which take {needed:.3g} hours; pick fewer, or give more time"
        )
    return min(count, MOST)


def _for_power(store: Store, campaign_id: int, found: Sequence[Configuration], target: float) -> int:
    """Enough for the weakest of the flags."""
    flagged = [one for one in found if one.verdict == FLAGGED and one.bic_gap is not None]
    if not flagged:
        raise ConflictError("power: none of these configurations is multimodal, so there is nothing to see again")
    weakest = sorted(flagged, key=lambda one: one.bic_gap or 0.0)[:WEAKEST]
    options = store.campaigns.study(campaign_id).analysis_options
    return max(_needed(_Fitted(store, options, one), target) for one in weakest)


def _for_target(store: Store, campaign_id: int, found: Sequence[Configuration], share: float) -> int:
    """Enough for the one that needs the most."""
    fitted = [one for one in found if one.family is not None]
    if not fitted:
        raise ConflictError("target: none of these configurations is fitted yet, so there is nothing to tell from")
    if len(fitted) > SIZED:
        raise ConflictError(
            f"target: {len(fitted):,} configurations are more than the {SIZED:,} that are worked out at once; "
            "pick fewer, or give replicates"
        )
    options = store.campaigns.study(campaign_id).analysis_options
    needed = max(_asked_for(_Fitted(store, options, one), share) for one in fitted)
    return max(_least(store, campaign_id), min(needed, MOST))


def _least(store: Store, campaign_id: int) -> int:
    from analysis.mixture import Options

    return Options.from_dict(dict(store.campaigns.study(campaign_id).analysis_options)).min_n


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A configuration's fit as a key: one BIC gap, one fit."""

    store: Store
    options: Mapping[str, Any]
    one: Configuration

    def __hash__(self) -> int:
        return hash((self.store.ledger, self.one.campaign_id, self.one.setting_id, self.one.mode, self.one.bic_gap))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Fitted) and (self.one, self.store.ledger) == (other.one, other.store.ledger)


@lru_cache(maxsize=1024)
def _needed(fitted: _Fitted, target: float) -> int:
    """The smallest number of runs that shows the modes of a fit again with this probability; `MOST` if none does."""
    import numpy as np

    from analysis import confirmation, mixture

    one = fitted.one
    page = fitted.store.campaigns.configuration(one.campaign_id, one.setting_id, one.mode)
    selection = mixture.Selection.from_dict(dict(page.selection or {}))
    options = mixture.Options.from_dict(dict(fitted.options))
    rng = np.random.default_rng(options.seed)
    return confirmation.runs_for_power(selection, options=options, rng=rng, target=target) or MOST


@lru_cache(maxsize=4096)
def _asked_for(fitted: _Fitted, share: float) -> int:
    """The runs that bring a configuration's quantiles to the target, by the fits there are of it."""
    import numpy as np

    from analysis import mixture, sample_size

    one = fitted.one
    page = fitted.store.campaigns.configuration(one.campaign_id, one.setting_id, one.mode)
    sample = np.array([run.value for run in page.runs if run.counts and run.value is not None])
    selection = mixture.Selection.from_dict(dict(page.selection or {}))
    candidates = sample_size.Candidates.of(selection, mixture.Options.from_dict(dict(fitted.options)))
    centre = sample_size.centre_of_sample(sample)
    return sample_size.rounded(sample_size.need(candidates, sample_size.Target(share=share), centre, sample).needed)
