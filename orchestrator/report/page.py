"""The page itself: templates filled with what was gathered."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version

from jinja2 import Environment, PackageLoader, StrictUndefined

from orchestrator import words
from orchestrator.report.content import Report


def render(report: Report, *, made_at: datetime | None = None) -> str:
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
        report=report,
        campaign=report.campaign,
        progress=report.progress,
        made_at=made_at or datetime.now(UTC),
        version=version("modescope"),
    )


def _moment(when: datetime | float) -> str:
    moment = when if isinstance(when, datetime) else datetime.fromtimestamp(when, UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
