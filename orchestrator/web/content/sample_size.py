"""How many runs of one configuration are enough, with the interval of that number and the curve behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from analysis.mixture import Selection
from analysis.sample_size import Target
from orchestrator.api.atlas import metric_of
from orchestrator.contracts.campaigns import Campaign, Configuration
from orchestrator.contracts.findings import ConfigurationPage
from orchestrator.report import curves, line_chart, sample_sizes
from orchestrator.report.line_chart import Axis, Line, Mark
from orchestrator.report.sample_sizes import OfQuantile, SampleSize
from orchestrator.report.units import Unit
from orchestrator.store.ports import Store

RESAMPLES = 30
LEAST = 10
"""Runs at which the curve begins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The answer for the default target."""

    campaign: Campaign
    configuration: Configuration
    found: SampleSize
    target: Target
    unit: Unit
    picture: Markup | None
    """None where no quantile has a standard error."""


def gather(store: Store, campaign_id: int, setting_id: int, mode: str) -> Content:
    """Takes seconds. Raises NotFoundError, and ConflictError where there is no fit yet."""
    page = store.campaigns.configuration(campaign_id, setting_id, mode)
    campaign, target = store.campaigns.get(campaign_id), Target()
    drawn = RESAMPLES if len(page.runs) <= sample_sizes.MOST_DRAWN else 0
    found = sample_sizes.of(page, target, resamples=drawn)
    return Content(
        campaign=campaign,
        configuration=page.configuration,
        found=found,
        target=target,
        unit=curves.fitting_unit(page, metric_of(store, campaign)),
        picture=_picture(page, found, target),
    )


def _picture(page: ConfigurationPage, found: SampleSize, target: Target) -> Markup | None:
    """Standard errors as shares of x_0.9 - x_0.1 against n, with n now, n that is enough, and the target."""
    selection = Selection.from_dict(dict(page.selection or {}))
    spread = selection.quantile(0.9) - selection.quantile(0.1)
    known = [one for one in found.quantiles if one.standard_error is not None]
    if not known or not spread > 0:
        return None
    high_n = min(max(found.runs, found.n, found.n_high or 0, target.max_n), 10 * max(found.runs, target.max_n))
    sizes = np.geomspace(LEAST, high_n, 60)
    lines = [
        Line(points=_fall(one, found.runs, sizes, spread), kind=f"c{place + 1}") for place, one in enumerate(known)
    ]
    heights = [y for line in lines for _, y in line.points]
    low, high = min(*heights, target.share / 2), max(*heights, target.share * 2)
    return line_chart.draw(
        "Standard errors of quantiles against the number of runs",
        Axis(label="runs n", low=LEAST, high=high_n, ticks=line_chart.powers(LEAST, high_n), logarithmic=True),
        Axis(
            label="standard error / (x0.9 − x0.1)", low=low, high=high, ticks=line_chart.powers(low, high),
            logarithmic=True, percent=True,
        ),
        lines,
        marks=[
            Mark(at=found.n, text=f"enough: {found.n:,}", low=found.n_low, high=found.n_high),
            Mark(at=found.runs, text=f"now: {found.runs:,}", kind="here"),
        ],
        level=target.share,
    )  # fmt: skip


def _fall(one: OfQuantile, runs: int, sizes: np.ndarray, spread: float) -> list[tuple[float, float]]:
    errors = (one.standard_error or 0.0) * np.sqrt(runs / sizes) / spread
    return list(zip(sizes.tolist(), errors.tolist(), strict=True))
