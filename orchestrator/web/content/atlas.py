"""The whole design as a map, and the study's summary as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.api.atlas import MODE, metric_of
from orchestrator.contracts.campaigns import Campaign, Progress
from orchestrator.contracts.findings import Summary
from orchestrator.contracts.metrics import Metric
from orchestrator.store.ports import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Which factors lie where, until the reader chooses others. An empty name: none."""

    x: str
    y: str
    x_within: str
    """Repeated inside each level of `x`."""
    y_within: str
    panels: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """A campaign's map at one moment; its cells come as data of their own."""

    progress: Progress
    summary: Summary
    metric: Metric
    axes: tuple[str, ...]
    """Factors that have several levels, and the mode."""
    layout: Layout

    @property
    def campaign(self) -> Campaign:
        """Its campaign."""
        return self.progress.campaign


def gather(store: Store, campaign_id: int) -> Content:
    """Raises NotFoundError, and ConflictError when the campaign is archived."""
    progress = store.campaigns.progress(campaign_id)
    settings = [one for one in store.campaigns.design(campaign_id).settings if one.control is None]
    factors = progress.campaign.factors
    varied = [name for place, name in enumerate(factors) if len({one.levels[place] for one in settings}) > 1]
    modes = {mode for one in settings for mode in one.modes}
    return Content(
        progress=progress,
        summary=store.findings.summary(campaign_id),
        metric=metric_of(store, progress.campaign),
        axes=(*varied, MODE),
        layout=_layout(varied, several_modes=len(modes) > 1),
    )


def _layout(varied: Sequence[str], *, several_modes: bool) -> Layout:
    """Four factors and the mode give every configuration a cell of its own; further ones share cells."""
    names = [*varied, *([MODE] if several_modes and len(varied) < 2 else []), "", "", "", ""]
    panels = MODE if several_modes and len(varied) >= 2 else ""
    return Layout(x=names[0] or MODE, y=names[1], x_within=names[2], y_within=names[3], panels=panels)
