"""How many runs of a configuration are enough."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from analysis import sample_size as sizes
from orchestrator.api import openapi
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.caching import UnlessHad
from orchestrator.api.routers.configurations import Mode, SettingId
from orchestrator.contracts.access import Scope
from orchestrator.contracts.errors import RequestError
from orchestrator.report import sample_sizes

router = APIRouter(
    prefix="/campaigns/{campaign_id}/configurations/{setting_id}/{mode}/sample-size",
    tags=["findings"],
    dependencies=[may(Scope.READ)],
    responses=openapi.REFUSED | openapi.UNCHANGED | openapi.documented(HTTPStatus.CONFLICT),
)
DEFAULTS = sizes.Target()
Probability = Annotated[float, Query(ge=0.001, le=0.999, allow_inf_nan=False)]
Quantiles = Annotated[list[Probability] | None, Query(min_length=1, max_length=20)]
Share = Annotated[float, Query(ge=1e-6, le=100, allow_inf_nan=False)]
Resamples = Annotated[int, Query(ge=0, le=100, description="Draws for the interval of n, which take seconds.")]
MaxN = Annotated[int, Query(ge=30, le=1_000_000)]


def _target(
    *,
    quantiles: Quantiles = None,
    target: Share = DEFAULTS.share,
    scale: sizes.Scale = DEFAULTS.scale,
    centred: bool = DEFAULTS.centred,
    quantile_from: sizes.Estimator | None = None,
    max_n: MaxN = DEFAULTS.max_n,
) -> sizes.Target:
    """What `modescope sample-size` calls by the same names; a quantile that is named twice is told once."""
    return sizes.Target(
        quantiles=DEFAULTS.quantiles if quantiles is None else tuple(dict.fromkeys(quantiles)),
        share=target,
        scale=scale,
        centred=centred,
        estimator=quantile_from,
        max_n=max_n,
    )


@router.get("", response_model=sample_sizes.SampleSize)
def of_configuration(
    *,
    campaign_id: CampaignId,
    setting_id: SettingId,
    mode: Mode,
    store: Ledger,
    answer: UnlessHad,
    target: Annotated[sizes.Target, Depends(_target)],
    resamples: Resamples = 0,
) -> Any:
    """How many runs are enough for the standard errors that are asked for, and Gamma against the number of runs."""

    def make() -> sample_sizes.SampleSize:
        page = store.campaigns.configuration(campaign_id, setting_id, mode)
        if resamples and len(page.runs) > sample_sizes.MOST_DRAWN:
            raise RequestError(
                f"resamples: only for up to {sample_sizes.MOST_DRAWN:,} runs; ask `modescope sample-size`"
            )
        return sample_sizes.of(page, target, resamples=resamples)

    return answer(make)
