"""One campaign while it runs and afterwards: how far, how fast, what is wrong, what comes next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, islice

from markupsafe import Markup

from orchestrator import words
from orchestrator.campaigns import adaptation, canaries, choice
from orchestrator.campaigns.repetition import INCOMPLETE
from orchestrator.contracts.analyses import FLAGGED, AnalysisVersion
from orchestrator.contracts.campaigns import Campaign, Event, NodeShare, Progress
from orchestrator.contracts.campaigns import State as CampaignState
from orchestrator.contracts.canaries import CanaryReport
from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.jobs import Job, State
from orchestrator.contracts.overviews import PACE_SLICE_S, Pace
from orchestrator.contracts.rates import Forecast, NodeRate
from orchestrator.contracts.rounds import ACTIVE, ADAPTIVE, Round
from orchestrator.report import svg
from orchestrator.store.ports import Store
from orchestrator.web.content import campaigns
from orchestrator.web.content.campaigns import Row

EVENTS = 12
_NUMBER = re.compile(r"\d+")
JOBS = 6
"""Of each kind; a campaign may have a hundred thousand."""
WIDTH, HEIGHT = 600.0, 72.0


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeLine:
    """What a node does for the campaign."""

    share: NodeShare
    runs_per_s: float
    rate: NodeRate | None
    """How fast it works while nothing holds it up; None: nobody can tell yet."""
    part: float
    """Of all valid runs, from 0 to 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """An answer to "why is this job not running?"."""

    job_id: int
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """An event, and how many before it say the same of other jobs."""

    event: Event
    more: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """Valid runs a second over time."""

    drawing: Markup
    sentence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """A campaign at one moment."""

    progress: Progress
    nodes: tuple[NodeLine, ...]
    forecast: Forecast | None
    """Time left with its interval, or why nobody can tell."""
    picture: Picture | None
    """Of the pace; None before there is something to see."""
    invalid_reasons: Mapping[str, int]
    events: tuple[Told, ...]
    running: tuple[Job, ...]
    waiting: tuple[Job, ...]
    set_aside: Mapping[str, int]
    """Reason -> number of jobs."""
    stalled: str | None
    """Why nothing is measured at all although the campaign wants it."""
    asked: Asked | None
    family: tuple[Row, ...]
    """What it descends from and what descends from that; empty where it stands alone."""
    rerunnable: tuple[str, ...]
    """Flags that a re-run may be asked for."""
    rounds: tuple[Round, ...]
    """Of a campaign that grows: those that have ended."""
    growth: tuple[str, ...]
    """What one that grows has come to, in sentences; an adaptive one only when it has ended."""
    canaries: CanaryReport | None
    """What its canaries say about its nodes, when it has ended."""
    versions: tuple[AnalysisVersion, ...]
    """Of its analysis, the first as submitted."""

    @property
    def campaign(self) -> Campaign:
        """Itself."""
        return self.progress.campaign

    @property
    def is_open(self) -> bool:
        """May it still be paused, resumed, cancelled?"""
        return self.campaign.state is CampaignState.RUNNING

    @property
    def measured(self) -> float:
        """The share of its runs that is there, from 0 to 1."""
        return self.progress.valid_runs / max(self.campaign.expected_runs, 1)

    @property
    def flagged(self) -> int:
        """Flagged configurations so far."""
        return self.progress.verdicts.get(FLAGGED, 0)

    @property
    def judging(self) -> str:
        """What it waits for between its last fit and its final verdicts."""
        return words.judging(self.progress)

    @property
    def missing(self) -> int:
        """Runs without which it ended, or which are still to come."""
        return max(0, self.campaign.expected_runs - self.progress.valid_runs)


def gather(store: Store, campaign_id: int, *, job_id: int | None = None) -> Content:
    """Ask the store for all of it; costs the same at any number of valid runs. Raises NotFoundError."""
    progress, pace = store.campaigns.progress(campaign_id), store.overviews.pace(campaign_id)
    archived = progress.campaign.archive is not None
    jobs = {kind: () if archived else _jobs(store, campaign_id, states) for kind, states in _KINDS.items()}
    family = campaigns.rows(store.overviews.family(campaign_id))
    return Content(
        progress=progress,
        nodes=_nodes(progress, pace, store.rates.of_campaign(campaign_id)),
        forecast=store.rates.forecast(campaign_id),
        picture=_picture(pace),
        invalid_reasons={} if archived else store.campaigns.invalid_reasons(campaign_id),
        events=tuple(islice(folded(store.campaigns.events(campaign_id)), EVENTS)),
        **jobs,
        set_aside={} if archived else store.overviews.set_aside(campaign_id),
        stalled=_stalled(store, progress, jobs["running"], jobs["waiting"]),
        asked=None if job_id is None else Asked(job_id=job_id, reason=store.jobs.why(campaign_id, job_id)),
        family=family if len(family) > 1 else (),
        rerunnable=() if archived else _rerunnable(progress),
        rounds=() if progress.campaign.grows is None else tuple(store.rounds.of_campaign(campaign_id)),
        canaries=None if archived else _canaries(store, progress.campaign),
        versions=tuple(store.versions.of_campaign(campaign_id)),
        growth=() if archived else _growth(store, progress.campaign),
    )


def _canaries(store: Store, campaign: Campaign) -> CanaryReport | None:
    """While it runs nobody waits for it: `campaign canaries` tells it at any time."""
    if not campaign.has_canaries or campaign.state is CampaignState.RUNNING:
        return None
    try:
        return canaries.canaries(store, campaign.id)
    except ConflictError:
        return None  # there is no run of them


def _growth(store: Store, campaign: Campaign) -> tuple[str, ...]:
    """While it runs its configurations are not asked for: a page that follows a campaign stays cheap."""
    if campaign.grows == ACTIVE:
        return tuple(words.growth(choice.choice(store, campaign.id)))
    if campaign.grows == ADAPTIVE and campaign.state is not CampaignState.RUNNING:
        return tuple(words.growth(adaptation.adaptation(store, campaign.id)))
    return ()


_KINDS: Mapping[str, tuple[State, ...]] = {
    "running": (State.LEASED,),
    "waiting": (State.QUEUED, State.OFFERED),
}


def folded(events: Iterable[Event]) -> Iterator[Told]:
    """Events in a row that differ in a number only are one."""
    for _, alike in groupby(events, key=lambda event: (event.kind, event.node, _NUMBER.sub("", event.message))):
        first, *others = alike
        yield Told(event=first, more=len(others))


def _jobs(store: Store, campaign_id: int, states: tuple[State, ...]) -> tuple[Job, ...]:
    return tuple(store.jobs.of_campaign(campaign_id, states=states, limit=JOBS))


def _nodes(progress: Progress, pace: Pace, rates: Iterable[NodeRate]) -> tuple[NodeLine, ...]:
    rate_of = {rate.node: rate for rate in rates}
    return tuple(
        NodeLine(
            share=share,
            runs_per_s=pace.runs_per_s.get(share.node, 0.0),
            rate=rate_of.get(share.node),
            part=share.valid / max(progress.valid_runs, 1),
        )
        for share in progress.nodes
    )


def _stalled(store: Store, progress: Progress, running: tuple[Job, ...], waiting: tuple[Job, ...]) -> str | None:
    campaign = progress.campaign
    if campaign.state is not CampaignState.RUNNING or campaign.paused or running or not waiting:
        return None
    return store.jobs.why(campaign.id, waiting[0].id)


def _rerunnable(progress: Progress) -> tuple[str, ...]:
    """Verdicts once they are final, the flagged first; and what lacks runs."""
    verdicts = sorted(progress.verdicts, key=lambda verdict: verdict != FLAGGED) if progress.verdicts_final else []
    ended_short = progress.campaign.state is not CampaignState.RUNNING and (
        progress.valid_runs < progress.campaign.expected_runs
    )
    return (*verdicts, INCOMPLETE) if ended_short else tuple(verdicts)


def _picture(pace: Pace) -> Picture | None:
    """The rate over time as an area from the left to now."""
    rates = pace.slices
    if len(rates) < 3:
        return None
    area = svg.Area(
        left=0, right=WIDTH, top=4, bottom=HEIGHT - 1, x_low=0, x_high=len(rates) - 1, y_high=max(*rates, 1e-9)
    )
    line = [(area.x(place), area.y(rate)) for place, rate in enumerate(rates)]
    length = words.duration(len(rates) * PACE_SLICE_S)
    sentence = f"Valid runs a second over {length}: at most {max(rates):,.1f}, {rates[-1]:,.1f} at the end"
    drawing = svg.element(
        "svg",
        svg.element("title", sentence),
        svg.path([(area.left, area.bottom), *line, (area.right, area.bottom)], closed=True, class_="area"),
        svg.path(line, class_="line"),
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        preserveAspectRatio="none",
    )
    return Picture(drawing=drawing, sentence=sentence)
