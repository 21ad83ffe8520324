"""What a report says: gathered from the store once, as one frozen value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from orchestrator.campaigns import repetition
from orchestrator.contracts.analyses import Fitted
from orchestrator.contracts.campaigns import Campaign, Configuration, Progress, Submission
from orchestrator.contracts.nodes import Node
from orchestrator.store.ports import Store

FLAGGED = "multimodal"
PICTURES = 200
"""At 25 kB a picture, a page with more of them is slow to open."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Flagged:
    """A flagged configuration: what is known about it, its sample and fit, and what its re-runs found."""

    configuration: Configuration
    fitted: Fitted
    repeats: tuple[repetition.Repeated, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """A campaign at one moment."""

    progress: Progress
    study: Submission
    nodes: tuple[Node, ...]
    """Those that have a run in this campaign."""
    invalid_reasons: Mapping[str, int]
    configurations: tuple[Configuration, ...]
    flagged: tuple[Flagged, ...]
    """At most `PICTURES` of them."""

    @property
    def campaign(self) -> Campaign:
        """Its campaign."""
        return self.progress.campaign

    @property
    def families(self) -> Mapping[str, int]:
        """Family of the best fit -> number of configurations."""
        return Counter(found.family for found in self.configurations if found.family is not None)

    @property
    def components(self) -> Mapping[int, int]:
        """Number of components of the best fit -> number of configurations."""
        found = Counter(one.components for one in self.configurations if one.components is not None)
        return dict(sorted(found.items()))


def gather(store: Store, campaign_id: int) -> Content:
    """Ask the store for all of it. Raises NotFoundError."""
    campaigns = store.campaigns
    progress = campaigns.progress(campaign_id)
    configurations = tuple(campaigns.configurations(campaign_id))
    at_work = {share.node for share in progress.nodes}
    return Content(
        progress=progress,
        study=campaigns.study(campaign_id),
        nodes=tuple(node for node in store.nodes.all() if node.name in at_work),
        invalid_reasons=campaigns.invalid_reasons(campaign_id),
        configurations=configurations,
        flagged=_flagged(store, campaign_id, configurations),
    )


def _flagged(store: Store, campaign_id: int, configurations: tuple[Configuration, ...]) -> tuple[Flagged, ...]:
    known = {(found.setting_id, found.mode): found for found in configurations}
    repeats = _repeats(store, campaign_id, configurations)
    return tuple(
        Flagged(
            configuration=known[fitted.setting_id, fitted.mode],
            fitted=fitted,
            repeats=tuple(repeats.get((fitted.setting_id, fitted.mode), ())),
        )
        for fitted in islice(store.analyses.fitted(campaign_id, verdict=FLAGGED), PICTURES)
    )


def _repeats(
    store: Store, campaign_id: int, configurations: tuple[Configuration, ...]
) -> Mapping[tuple[int, str], list[repetition.Repeated]]:
    """(setting, mode) -> what each re-run of the campaign found, the oldest first."""
    found: dict[tuple[int, str], list[repetition.Repeated]] = {}
    children = [one.id for one in store.campaigns.all() if one.parent_id == campaign_id]
    for child in sorted(children):
        for pair in repetition.pairs(configurations, store.campaigns.configurations(child)):
            found.setdefault((pair.first.setting_id, pair.first.mode), []).append(pair)
    return found
