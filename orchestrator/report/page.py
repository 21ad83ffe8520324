"""The page itself: a template filled with what was gathered."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.mixture import Selection
from orchestrator import words
from orchestrator.contracts import metrics
from orchestrator.contracts.campaigns import Configuration
from orchestrator.report import histogram, units
from orchestrator.report.content import FLAGGED, Content, Flagged

ROWS_SHOWN = 300
"""A table of all configurations of a large study belongs into a file, not onto paper."""


def render(content: Content, *, made_at: datetime | None = None) -> str:
    """One HTML page that needs nothing else: no script, no font, no picture from elsewhere."""
    environment = Environment(
        loader=PackageLoader("orchestrator.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(moment=_moment, duration=words.duration, small=words.small)
    return environment.get_template("page.html").render(
        content=content,
        campaign=content.campaign,
        progress=content.progress,
        cards=[_card(content, flagged) for flagged in content.flagged],
        rows=_rows(content),
        row_limit=ROWS_SHOWN,
        settle=settle_sentence(content),
        metric=metrics.of(content.study.engine, content.study.engine_options).name,
        synthetic=any(found.control for found in content.configurations),
        flagged_count=sum(found.verdict == FLAGGED for found in content.configurations),
        made_at=made_at or datetime.now(UTC),
        version=version("modescope"),
    )


def settle_sentence(content: Content) -> str | None:
    """What a reader must know about the benchmark's pauses before comparing with other studies."""
    if content.study.engine == "iozone" and "settle_s" in content.study.design.factors:
        return "Settle time is a factor here: the pause around each test, which is 2 s when IOzone is left alone."
    match content.study.engine, content.study.engine_options.get("settle_s"):
        case "iozone", None:
            return "IOzone's own settle time was kept: it sleeps 2 s around each test."
        case "iozone", settle_s:
            return (
                f"Settle time {settle_s:g} s: it replaced IOzone's own pause of 2 s around each test. "
                "Throughputs measured so are not to be pooled with those of IOzone's own pause."
            )
        case "builtin", _:
            return "Measured with Modescope's small built-in benchmark, which is for trying; IOzone's numbers differ."
    return None


def _card(content: Content, flagged: Flagged) -> dict[str, Any]:
    """What the template shows of a flagged configuration."""
    stored = flagged.fitted.selection
    selection = None if stored is None else Selection.from_dict(stored)
    title = words.title(content.campaign.factors, flagged.configuration)
    metric = metrics.of(content.study.engine, content.study.engine_options)
    return {
        "configuration": flagged.configuration,
        "title": title,
        "sentence": flagged.fitted.sentence,
        "selection": selection,
        "dip_q": flagged.fitted.dip_q,
        "picture": None if selection is None else histogram.draw(flagged.fitted.sample, selection, title, metric),
        "components": [] if selection is None else _components(selection, metric.unit),
        "repeats": flagged.repeats,
    }


def _components(selection: Selection, metric_unit: str) -> list[str]:
    """`65 % around 900 MB/s`: weight and median of each component, from left to right."""
    best = selection.best
    unit = units.fitting(max(mode.position for mode in selection.modes), metric_unit)
    medians = best.component_quantiles(0.5)
    return [
        f"{100 * weight:.0f} % around {unit.told(float(median))} {unit.name}"
        for weight, median in zip(best.weights, medians, strict=True)
    ]


def _rows(content: Content) -> list[Configuration]:
    return sorted(content.configurations, key=lambda found: found.verdict != FLAGGED)[:ROWS_SHOWN]


def _moment(when: datetime | float) -> str:
    moment = when if isinstance(when, datetime) else datetime.fromtimestamp(when, UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
