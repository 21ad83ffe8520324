"""A whole design in columns: what a map needs of 22,734 configurations, in 150 kB."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.contracts import metrics
from orchestrator.contracts.campaigns import Campaign
from orchestrator.contracts.designs import Level
from orchestrator.contracts.findings import Outcome
from orchestrator.contracts.metrics import Metric
from orchestrator.store.ports import Store

MODE = "mode"
"""The last axis; in a study's file, too, it stands beside the factors."""
DIGITS = 4
"""Significant ones; a colour shows two."""


class Axis(BaseModel):
    """A factor, or the mode."""

    model_config = ConfigDict(frozen=True)
    name: str
    levels: tuple[Level, ...] = Field(description="In order: numbers by size, words as the study lists them.")


class Atlas(BaseModel):
    """Every configuration but controls. All columns have an entry for each, in order of setting and mode."""

    model_config = ConfigDict(frozen=True)
    metric: str
    unit: str
    axes: tuple[Axis, ...] = Field(description="The factors, then the mode.")
    verdicts: tuple[str, ...] = Field(description="The verdicts there are.")
    setting: list[int] = Field(description="Setting ids.")
    places: list[list[int]] = Field(description="A column for each axis: which of its levels.")
    verdict: list[int] = Field(description="Which of `verdicts`; -1: not analysed.")
    components: list[int] = Field(description="Of the best fit; 0: no fit.")
    variation: list[float | None] = Field(description="Coefficient of variation of the sample.")
    median: list[float | None] = Field(description="Of the sample, in `unit`.")


def gather(store: Store, campaign_id: int) -> Atlas:
    """Raises NotFoundError, and ConflictError when the campaign is archived."""
    campaign = store.campaigns.get(campaign_id)
    return of(campaign.factors, store.findings.outcomes(campaign_id), metric_of(store, campaign))


def metric_of(store: Store, campaign: Campaign) -> Metric:
    """What it measures; its study, which is large, is read only where that depends on it."""
    options = store.campaigns.study(campaign.id).engine_options if campaign.engine in metrics.WITH_OWN_METRIC else {}
    return metrics.of(campaign.engine, options)


def of(factors: Sequence[str], outcomes: Sequence[Outcome], metric: Metric) -> Atlas:
    """The columns of these outcomes."""
    texts = [[one.levels[place] for one in outcomes] for place in range(len(factors))]
    columns: list[Sequence[Level]] = [*texts, [one.mode for one in outcomes]]
    levels = [_in_order(column) for column in columns]
    verdicts = tuple(sorted({one.verdict for one in outcomes if one.verdict is not None}))
    return Atlas.model_construct(
        metric=metric.name,
        unit=metric.unit,
        axes=tuple(Axis(name=name, levels=found) for name, found in zip((*factors, MODE), levels, strict=True)),
        verdicts=verdicts,
        setting=[one.setting_id for one in outcomes],
        places=[_places(column, found) for column, found in zip(columns, levels, strict=True)],
        verdict=[-1 if one.verdict is None else verdicts.index(one.verdict) for one in outcomes],
        components=[one.components or 0 for one in outcomes],
        variation=[_short(one.variation) for one in outcomes],
        median=[_short(one.median) for one in outcomes],
    )


def _in_order(column: Sequence[Level]) -> tuple[Level, ...]:
    distinct = list(dict.fromkeys(column))
    if any(isinstance(level, str) for level in distinct):
        return tuple(distinct)
    return tuple(sorted(distinct, key=float))


def _places(column: Iterable[Level], levels: Sequence[Level]) -> list[int]:
    place_of = {level: place for place, level in enumerate(levels)}
    return [place_of[level] for level in column]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")
