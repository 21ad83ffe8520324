"""How a page is made: a template of ours, what every page shows, and the caller's form token."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup, escape

from orchestrator import words
from orchestrator.api.gate import Caller
from orchestrator.contracts.access import Scope, allows
from orchestrator.contracts.campaigns import Campaign, State
from orchestrator.contracts.rates import NodeRate

NO_STORE = {"cache-control": "no-store"}
"""A page shows one person's view of one moment."""


def page(request: Request, template: str, *, status: int = HTTPStatus.OK, **shown: Any) -> HTMLResponse:
    """Render `template` with `shown`, and who is signed in."""
    caller: Caller | None = getattr(request.state, "caller", None)
    text = (
        _templates()
        .get_template(template)
        .render(
            path=request.url.path,
            caller=caller,
            form_token=caller.form_token if caller is not None else "",
            may=lambda scope: caller is not None and allows(caller.token.scopes, Scope(scope)),
            version=version("modescope"),
            **shown,
        )
    )
    return HTMLResponse(text, status, headers=NO_STORE)


@cache
def _templates() -> Environment:
    environment = Environment(
        # What the report says too is written once, there.
        loader=ChoiceLoader(
            [PackageLoader("orchestrator.web"), PrefixLoader({"report": PackageLoader("orchestrator.report")})]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        duration=words.duration, moment=_moment, iso=_iso, small=words.small, state=words.state, tag=_tag
    )
    environment.globals.update(zip=zip)
    environment.filters.update(analysis_version=words.analysis_version)
    environment.filters.update(code=_code, listed=words.listed, rate_span=_rate_span)
    return environment


def _rate_span(found: NodeRate) -> str:
    """`3.1 runs/min (2.9 to 3.3)`."""
    return words.rate_span(found.runs_per_s, found.low_per_s, found.high_per_s)


def _code(sentence: str) -> Markup:
    """A sentence of ours, in which backticks stand around what one types."""
    parts = enumerate(sentence.split("`"))
    return Markup("").join(Markup("<code>{}</code>").format(part) if odd % 2 else escape(part) for odd, part in parts)


def _tag(campaign: Campaign) -> str:
    """The class of the tag that shows its state."""
    return "paused" if campaign.paused and campaign.state is State.RUNNING else campaign.state


def _moment(seconds: float) -> str:
    """`2026-11-21 16:05 UTC`; scripts turn it into the reader's own time zone (`<time datetime>`)."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
