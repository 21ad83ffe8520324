"""Watching a campaign: live on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from orchestrator import words
from orchestrator.cli import tables
from orchestrator.client import Client
from orchestrator.contracts.campaigns import Progress, State
from orchestrator.contracts.errors import TooManyError, UnavailableError

POLL_S = 0.5
LINE_EVERY_S = 5.0
PATIENCE_S = 30.0
"""A service that restarts is waited for this long."""


def watch(client: Client, campaign_id: int, console: Console | None) -> Progress:
    """Show the campaign until it is over and its verdicts are final; its last progress. None shows nothing."""
    reports = _reports(client, campaign_id)
    if console is None:
        return deque(reports, maxlen=1).pop()
    return _live(reports, console) if console.is_terminal else _lines(reports, console)


def _reports(client: Client, campaign_id: int) -> Iterator[Progress]:
    """Progress again and again, the last one when nothing will change any more.

    The service tells it as it changes. While it is away, or when a proxy keeps its stream back, it is asked for.
    """
    tells = True
    while True:
        if tells:
            tells = False
            with suppress(UnavailableError, TooManyError):
                for progress in client.follow(campaign_id):
                    tells = True
                    yield progress
                return
        progress = _patiently(client, campaign_id)
        yield progress
        if progress.verdicts_final:
            return
        if not tells:
            time.sleep(POLL_S)


def _patiently(client: Client, campaign_id: int) -> Progress:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return client.progress(campaign_id)
        except UnavailableError:
            if time.monotonic() > deadline:
                raise
            time.sleep(POLL_S)


def _live(reports: Iterator[Progress], console: Console) -> Progress:
    with Live(console=console, transient=True) as live:
        for progress in reports:
            live.update(_picture(progress))
    return progress


def _lines(reports: Iterator[Progress], console: Console) -> Progress:
    next_line_at, said = 0.0, ""
    for progress in reports:
        now = line(progress)
        if now != said and (time.monotonic() >= next_line_at or progress.verdicts_final):
            console.print(now, soft_wrap=True)
            next_line_at, said = time.monotonic() + LINE_EVERY_S, now
    return progress


def _picture(progress: Progress) -> RenderableType:
    campaign = progress.campaign
    bars = Table.grid(padding=(0, 2))
    bars.add_row("measured", *_bar(progress.valid_runs, campaign.expected_runs), _pace(progress))
    bars.add_row("analysed", *_bar(progress.analyses_done, progress.analyses_total), words.listed(progress.verdicts))
    if judging := words.judging(progress):
        bars.add_row("judged", *_bar(progress.flags_judged, progress.flags_to_judge), judging)
    headline = Text(f"Campaign {campaign.id} {campaign.name!r}: {words.state(campaign)}", style="bold")
    return Group(headline, bars, tables.of_shares(progress.nodes))


def _bar(done: int, total: int) -> tuple[RenderableType, str]:
    return ProgressBar(total=max(total, 1), completed=done, width=30), f"{done:,} / {total:,}"


def _pace(progress: Progress) -> str:
    """`310.0 runs/s, time left 32 s (80 %: 28 s to 40 s)`, as far as it is known; nothing when it is over."""
    if progress.campaign.state is not State.RUNNING:
        return ""
    parts = [] if progress.runs_per_s is None else [f"{progress.runs_per_s:,.1f} runs/s"]
    if progress.time_left_s:
        left = words.span(progress.time_left_s, progress.time_left_low_s, progress.time_left_high_s)
        parts.append(f"time left {left}")
    return ", ".join(parts)


def line(progress: Progress) -> str:
    """All of it in one line."""
    campaign = progress.campaign
    parts = [
        f"campaign {campaign.id} {words.state(campaign)}: {progress.valid_runs:,}/{campaign.expected_runs:,} runs",
        _pace(progress),
        words.listed({share.node: share.valid for share in progress.nodes}),
        f"analysed {progress.analyses_done:,}/{progress.analyses_total:,}",
        words.listed(progress.verdicts),
        words.judging(progress),
    ]
    return "; ".join(part for part in parts if part)
