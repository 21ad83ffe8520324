"""A campaign's configurations as a table to filter, sort and pick from; and what it costs to measure some again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import fmean
from urllib.parse import urlencode

from orchestrator import words
from orchestrator.api.atlas import metric_of
from orchestrator.campaigns.calibration import calibration
from orchestrator.contracts.analyses import FLAGGED
from orchestrator.contracts.calibration import Calibration
from orchestrator.contracts.campaigns import Campaign, Configuration
from orchestrator.contracts.designs import Level
from orchestrator.contracts.errors import RequestError
from orchestrator.report import units
from orchestrator.report.units import Unit
from orchestrator.store.ports import Store

ROWS = 100
"""On one page."""
ANY = "any"
INCOMPLETE = "incomplete"
NUMBERS = ("bic_gap", "median", "variation", "density_modes", "dip_q", "valid_runs")
WORDS = ("mode", "verdict")
"""Columns to sort by, beside the factors, which are named as in a filter."""
LEVEL = "level."


@dataclass(frozen=True, kw_only=True, slots=True)
class Filter:
    """Which configurations, in which order; all of it stands in the page's address."""

    verdict: str = FLAGGED
    """A verdict, ANY, or INCOMPLETE: whatever lacks valid runs."""
    mode: str = ""
    levels: Mapping[str, str]
    """Factor -> level as text."""
    text: str = ""
    """Words that must all occur in its name or its sentence."""
    sort: str = "bic_gap"
    rising: bool = False
    page: int = 1

    @property
    def query(self) -> str:
        """The part of an address behind the question mark."""
        levels = {LEVEL + factor: level for factor, level in self.levels.items()}
        return urlencode(
            {
                "verdict": self.verdict, "mode": self.mode, **levels, "text": self.text, "sort": self.sort,
                "rising": int(self.rising), "page": self.page,
            }
        )  # fmt: skip

    def sorted_by(self, column: str) -> Filter:
        """The same, sorted by this column; the other way round when it already is."""
        return replace(self, sort=column, rising=not self.rising if self.sort == column else False, page=1)

    def on_page(self, number: int) -> Filter:
        """Another page of it."""
        return replace(self, page=number)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A configuration in the table."""

    found: Configuration
    elapsed_s: float | None
    """Mean of one run of its setting; None before the first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The table at one moment."""

    campaign: Campaign
    wanted: Filter
    rows: tuple[Row, ...]
    matching: int
    pages: int
    verdicts: Mapping[str, int]
    """Verdict -> how many of all."""
    verdicts_final: bool
    modes: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    """Factor -> its levels, of factors that have several."""
    unit: Unit
    calibration: Calibration | None
    """What its controls say of its flags; None where it has none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What it costs to measure settings again."""

    settings: tuple[int, ...]
    picked: int
    configurations: int
    """All modes of the settings: they come from one invocation."""
    replicates: int
    benchmark_s: float | None
    """Of all runs together, as long as such runs took before; None while none has ended."""
    unknown: int
    """Settings that have no valid run to tell from."""
    nodes: int
    """That could share it now."""

    @property
    def runs(self) -> int:
        """How many."""
        return len(self.settings) * self.replicates


def read(query: Mapping[str, str]) -> Filter:
    """The filter that stands in an address or a form. Raises RequestError for one that none of our pages made."""
    page, sort = query.get("page", "1"), query.get("sort", "bic_gap")
    if not page.isdecimal() or not 1 <= int(page) <= 1_000_000:
        raise RequestError(f"page: {page[:20]!r} is no page number")
    if sort not in NUMBERS + WORDS and not sort.startswith(LEVEL):
        raise RequestError(f"sort: one of {', '.join(NUMBERS + WORDS)} or {LEVEL}FACTOR, not {sort[:20]!r}")
    levels = {name[len(LEVEL) :]: level for name, level in query.items() if name.startswith(LEVEL) and level}
    return Filter(
        verdict=query.get("verdict", FLAGGED) or ANY,
        mode=query.get("mode", ""),
        levels=levels,
        text=query.get("text", ""),
        sort=sort,
        rising=query.get("rising") == "1",
        page=int(page),
    )


def gather(store: Store, campaign_id: int, wanted: Filter) -> Content:
    """Ask the store for one page of it. Raises NotFoundError, and ConflictError when the campaign is archived."""
    progress = store.campaigns.progress(campaign_id)
    campaign = progress.campaign
    found = _sorted(matching(store, campaign, wanted), campaign.factors, wanted)
    pages = max(1, -(-len(found) // ROWS))
    shown = found[(min(wanted.page, pages) - 1) * ROWS :][:ROWS]
    elapsed = store.findings.elapsed_s(campaign_id, {one.setting_id for one in shown})
    design = store.campaigns.design(campaign_id)
    levels = {
        factor: _levels([setting.levels[place] for setting in design.settings if setting.control is None])
        for place, factor in enumerate(design.factors)
    }
    largest = max((one.median for one in shown if one.median is not None), default=0.0)
    return Content(
        campaign=campaign,
        wanted=wanted.on_page(min(wanted.page, pages)),
        rows=tuple(Row(found=one, elapsed_s=elapsed.get(one.setting_id)) for one in shown),
        matching=len(found),
        pages=pages,
        verdicts=progress.verdicts,
        verdicts_final=progress.verdicts_final,
        modes=tuple(dict.fromkeys(mode for setting in design.settings for mode in setting.modes)),
        levels={factor: found for factor, found in levels.items() if len(found) > 1},
        unit=units.fitting(largest, metric_of(store, campaign).unit),
        calibration=calibration(store, campaign_id) if any(one.control for one in design.settings) else None,
    )


def matching(store: Store, campaign: Campaign, wanted: Filter) -> list[Configuration]:
    """Every configuration that passes the filter, in order of the design."""
    verdict = None if wanted.verdict in (ANY, INCOMPLETE) else wanted.verdict
    found = store.campaigns.configurations(campaign.id, verdict=verdict, mode=wanted.mode or None)
    places = {factor: place for place, factor in enumerate(campaign.factors)}
    levels = [(places[factor], level) for factor, level in wanted.levels.items() if factor in places]
    asked = wanted.text.lower().split()
    return [
        one
        for one in found
        if (wanted.verdict != INCOMPLETE or one.valid_runs < one.replicates)
        and all(one.control is None and str(one.levels[place]) == level for place, level in levels)
        and all(word in f"{words.title(campaign.factors, one)} {one.sentence or ''}".lower() for word in asked)
    ]


def cost(store: Store, campaign: Campaign, picked: Collection[tuple[int, str]], replicates: int | None) -> Cost:
    """What it takes to measure the settings of these (setting id, mode) pairs again."""
    settings = tuple(sorted({setting_id for setting_id, _ in picked}))
    wanted = campaign.replicates if replicates is None else replicates
    elapsed = store.findings.elapsed_s(campaign.id, settings)
    modes = sum(1 for one in store.campaigns.configurations(campaign.id) if one.setting_id in set(settings))
    return Cost(
        settings=settings,
        picked=len(picked),
        configurations=modes,
        replicates=wanted,
        benchmark_s=wanted * len(settings) * fmean(elapsed.values()) if elapsed else None,
        unknown=len(settings) - len(elapsed),
        nodes=sum(node.state == "ready" and node.online for node in store.nodes.all()),
    )


def _sorted(found: list[Configuration], factors: Sequence[str], wanted: Filter) -> list[Configuration]:
    """What has no value in the sorted column comes last, either way; equals stay in order of the design."""
    value = _column(factors, wanted.sort)
    known = [one for one in found if value(one) is not None]
    known.sort(key=lambda one: _as_key(value(one)), reverse=not wanted.rising)
    return known + [one for one in found if value(one) is None]


def _column(factors: Sequence[str], sort: str) -> Callable[[Configuration], Level | None]:
    """The value of the column that is sorted by; None everywhere for a factor that there is not."""
    factor = sort.removeprefix(LEVEL)
    if factor == sort:
        return attrgetter(sort)
    place = factors.index(factor) if factor in factors else None
    return lambda one: None if place is None or one.control is not None else one.levels[place]


def _as_key(value: Level | None) -> tuple[str, float]:
    """Numbers by size, before words by letter."""
    return (value, 0.0) if isinstance(value, str) else ("", float(value or 0))


def _levels(column: Sequence[object]) -> tuple[str, ...]:
    distinct = list(dict.fromkeys(column))
    if all(isinstance(level, int | float) for level in distinct):
        distinct.sort(key=lambda level: float(str(level)))
    return tuple(str(level) for level in distinct)
