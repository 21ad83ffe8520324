"""One configuration: what was measured, what was fitted, and how far both can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.mixture import FAMILY_NAMES, Selection
from orchestrator import words
from orchestrator.api.atlas import metric_of
from orchestrator.contracts.campaigns import Campaign, Configuration
from orchestrator.contracts.findings import ConfigurationPage, MeasuredRun
from orchestrator.contracts.metrics import Metric
from orchestrator.contracts.runs import Validity
from orchestrator.report import curves
from orchestrator.report.units import Unit
from orchestrator.store.ports import Store

HALF = 10.0
"""A difference of BIC that is strong evidence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModeRow:
    """A density mode of the best fit."""

    position: float
    share: float
    runs: int
    """Of the sample, between the valleys on its two sides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ComponentRow:
    """A component of the best fit."""

    weight: float
    median: float
    at_floor: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class BicCell:
    """One fitted mixture in the table of all."""

    bic: float
    behind: float
    """How much worse than the best."""
    heat: float
    """1 for the best, a half at `HALF` behind it, towards 0 for those far behind."""
    best: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeRow:
    """What a node contributed, and in which density modes its runs lie."""

    node: str
    runs: int
    median: float
    shares: tuple[float, ...]
    """Of its runs, by density mode; empty for one mode."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """A configuration at one moment. Values are in the campaign's unit; `unit` tells them."""

    campaign: Campaign
    page: ConfigurationPage
    title: str
    metric: Metric
    unit: Unit
    modes: tuple[ModeRow, ...]
    components: tuple[ComponentRow, ...]
    bics: Mapping[str, tuple[BicCell | None, ...]]
    """Family -> its fits with 1, 2, ... components."""
    quantiles: tuple[curves.QuantileError, ...]
    no_errors: str | None
    enough: curves.Enough | None
    nodes: tuple[NodeRow, ...]
    repeats: tuple[tuple[Campaign, Configuration], ...]
    set_aside: int
    """Valid runs that are not analysed: warm-up."""
    invalid: Mapping[str, int]
    """Reason -> runs that do not count."""

    @property
    def found(self) -> Configuration:
        """Its configuration."""
        return self.page.configuration

    @property
    def component_counts(self) -> range:
        """The columns of the table of BICs."""
        return range(1, 1 + max((len(row) for row in self.bics.values()), default=0))


def gather(store: Store, campaign_id: int, setting_id: int, mode: str) -> Content:
    """Ask the store for all of it. Raises NotFoundError, and ConflictError when the campaign is archived."""
    campaign = store.campaigns.get(campaign_id)
    page = store.campaigns.configuration(campaign_id, setting_id, mode)
    metric = metric_of(store, campaign)
    drawn = curves.of(page, metric)
    selection = None if page.selection is None else Selection.from_dict(page.selection)
    valleys = [] if selection is None else _valleys(selection)
    return Content(
        campaign=campaign,
        page=page,
        title=words.title(campaign.factors, page.configuration),
        metric=metric,
        unit=curves.fitting_unit(page, metric),
        modes=() if selection is None else _modes(selection, np.array(curves.sample_of(page)), valleys),
        components=() if selection is None else _components(selection),
        bics={} if selection is None else _bics(selection),
        quantiles=tuple(drawn.quantiles),
        no_errors=drawn.no_errors,
        enough=drawn.enough,
        nodes=_nodes(page.runs, valleys),
        repeats=_repeats(store, campaign_id, setting_id, mode),
        set_aside=sum(run.warm_up for run in page.runs),
        invalid=Counter(run.reason or run.validity for run in page.runs if run.validity != Validity.VALID),
    )


def _valleys(selection: Selection) -> list[float]:
    """The values between neighbouring density modes: each mode's share is the probability up to the next valley."""
    ends = np.cumsum([mode.share for mode in selection.modes])[:-1]
    return [selection.quantile(float(end)) for end in ends if 0 < end < 1]


def _modes(selection: Selection, sample: np.ndarray, valleys: Sequence[float]) -> tuple[ModeRow, ...]:
    runs = np.bincount(np.searchsorted(valleys, sample), minlength=len(selection.modes))
    return tuple(
        ModeRow(position=mode.position, share=mode.share, runs=int(count))
        for mode, count in zip(selection.modes, runs, strict=True)
    )


def _components(selection: Selection) -> tuple[ComponentRow, ...]:
    best = selection.best
    medians = best.component_quantiles(0.5)
    return tuple(
        ComponentRow(weight=weight, median=float(median), at_floor=at_floor)
        for weight, median, at_floor in zip(best.weights, medians, best.at_floor, strict=True)
    )


def _bics(selection: Selection) -> Mapping[str, tuple[BicCell | None, ...]]:
    most = max(fit.components for fit in selection.table)
    fits = {(fit.family, fit.components): fit for fit in selection.table}
    cells = {
        key: BicCell(
            bic=fit.bic,
            behind=fit.bic - selection.bic,
            heat=HALF / (HALF + max(fit.bic - selection.bic, 0.0)),
            best=fit is selection.best,
        )
        for key, fit in fits.items()
    }
    families = [family for family in FAMILY_NAMES if (family, 1) in fits]
    return {family: tuple(cells.get((family, k)) for k in range(1, most + 1)) for family in families}


def _nodes(runs: Sequence[MeasuredRun], valleys: Sequence[float]) -> tuple[NodeRow, ...]:
    by_node: dict[str, list[float]] = {}
    for run in runs:
        if run.validity == Validity.VALID and run.value is not None:
            by_node.setdefault(run.node, []).append(run.value)
    return tuple(_node(name, np.array(values), valleys) for name, values in sorted(by_node.items()))


def _node(name: str, values: np.ndarray, valleys: Sequence[float]) -> NodeRow:
    in_modes = np.bincount(np.searchsorted(valleys, values), minlength=len(valleys) + 1)
    shares = tuple(float(count) / len(values) for count in in_modes) if valleys else ()
    return NodeRow(node=name, runs=len(values), median=float(np.median(values)), shares=shares)


def _repeats(store: Store, campaign_id: int, setting_id: int, mode: str) -> tuple[tuple[Campaign, Configuration], ...]:
    found = store.findings.repeats(campaign_id, setting_id, mode)
    return tuple((store.campaigns.get(one.campaign_id), one) for one in found)
