"""Two campaigns side by side: what moved, by how much, and which verdicts changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from statistics import median

from markupsafe import Markup

from orchestrator.api.atlas import metric_of
from orchestrator.comparison import Compared, Pair, compare_tables
from orchestrator.contracts.campaigns import Campaign
from orchestrator.contracts.errors import TableError
from orchestrator.contracts.tables import LabelledSample, Table
from orchestrator.report import units
from orchestrator.report.svg import element
from orchestrator.report.units import Unit, ticks
from orchestrator.store.ports import Store

MOST = 30_000
"""Configurations that are compared while somebody waits, a millisecond each; `modescope compare` takes any number."""
ROWS = 100
"""On one page."""
KEPT = 4
"""Comparisons that are kept for their further pages."""
QUANTILES = (0.1, 0.5, 0.9)
FDR = 0.05
DRAWN = 40
WIDTH, LEFT, RIGHT, ROW, TOP = 900.0, 330.0, 880.0, 20.0, 34.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A quantile over all configurations."""

    q: float
    rose: int
    fell: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """A campaign beside another: `other` is A, what it is compared with; `campaign` is B."""

    campaign: Campaign
    other: Campaign | None
    choices: tuple[Campaign, ...]
    """What it can be compared with: relatives first."""
    problem: str | None = None
    compared: Compared | None = None
    quantiles: tuple[Row, ...] = ()
    changed: int = 0
    """Configurations that have another distribution."""
    rows: tuple[Pair, ...] = ()
    """Those of one page, what changed most first."""
    number: int = 1
    pages: int = 1
    verdicts: Counter[tuple[str, str]] | None = None
    picture: Markup | None = None
    unit: Unit | None = None
    """Of what is compared."""
    fdr: float = FDR


def gather(store: Store, campaign_id: int, other_id: int | None, number: int = 1) -> Content:
    """Page `number` of it; without another campaign beside its parent, if it has one. Raises NotFoundError."""
    campaign = store.campaigns.get(campaign_id)
    choices = _choices(store, campaign)
    chosen = other_id if other_id is not None else campaign.parent_id
    if chosen is None:
        return Content(campaign=campaign, other=None, choices=choices)
    other = store.campaigns.get(chosen)
    if max(campaign.configurations, other.configurations) > MOST:  # all of both are read
        said = f"More than {MOST:,} configurations: run `modescope compare {other.id} {campaign.id} --out changes.csv`"
        return Content(campaign=campaign, other=other, choices=choices, problem=said)
    try:
        found = _compared(_Asked(store, (other, campaign)))
    except TableError as nothing:
        return Content(campaign=campaign, other=other, choices=choices, problem=str(nothing))
    changed = tuple(sorted((p for p in found.pairs if p.changed(FDR)), key=lambda pair: -pair.comparison.ks))
    pages = max(1, -(-len(changed) // ROWS))
    number = min(number, pages)
    return Content(
        campaign=campaign,
        other=other,
        choices=choices,
        compared=found,
        quantiles=tuple(_row(found, place, q) for place, q in enumerate(QUANTILES)),
        changed=len(changed),
        rows=changed[(number - 1) * ROWS :][:ROWS],
        number=number,
        pages=pages,
        verdicts=found.verdicts(),
        picture=_picture(changed[:DRAWN]) if changed else None,
        unit=units.fitting(
            median(pair.comparison.shifts[1].b for pair in found.pairs), metric_of(store, campaign).unit
        ),
    )


class _Asked:
    """Two campaigns as a key: their samples are the same as long as their versions in this ledger are."""

    def __init__(self, store: Store, campaigns: tuple[Campaign, Campaign]) -> None:
        self.store, self.campaigns = store, campaigns
        self._key = (store.ledger, *((one.id, store.campaigns.version(one.id)) for one in campaigns))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and other._key == self._key


@lru_cache(maxsize=KEPT)
def _compared(asked: _Asked) -> Compared:
    """All that both have. Raises TableError."""
    (a, verdicts_a), (b, verdicts_b) = (_table(asked.store, one) for one in asked.campaigns)
    return compare_tables(a, b, quantiles=QUANTILES, verdicts=(verdicts_a, verdicts_b))


def _choices(store: Store, campaign: Campaign) -> tuple[Campaign, ...]:
    related = {one.campaign.id for one in store.overviews.family(campaign.id)}
    others = [one for one in store.campaigns.all() if one.id != campaign.id and one.factors == campaign.factors]
    return tuple(sorted(others, key=lambda one: (one.id not in related, -one.id)))


def _table(store: Store, campaign: Campaign) -> tuple[Table, dict[tuple[str, ...], str]]:
    """Samples and verdicts of what is analysed, controls aside."""
    of_setting = {
        one.ordinal: one for one in store.campaigns.design(campaign.id).settings if one.control is None
    }  # fmt: skip
    ordinals = {one.setting_id: one.ordinal for one in store.campaigns.configurations(campaign.id)}
    samples, verdicts = [], {}
    for fitted in store.analyses.fitted(campaign.id, whole=False):
        setting = of_setting.get(ordinals[fitted.setting_id])
        if setting is None:
            continue
        labels = (*map(str, setting.levels), fitted.mode)
        samples.append(LabelledSample(labels=labels, values=fitted.sample))
        if fitted.verdict is not None:
            verdicts[labels] = fitted.verdict
    if not samples:
        raise TableError(f"campaign {campaign.id} has no analysed configuration yet")
    return Table(label_names=(*campaign.factors, "mode"), samples=tuple(samples)), verdicts


def _row(found: Compared, place: int, q: float) -> Row:
    moved = [
        pair.comparison.shifts[place].difference
        for pair in found.pairs
        if pair.false_discovery.shifts[place] <= FDR
    ]  # fmt: skip
    return Row(q=q, rose=sum(one > 0 for one in moved), fell=sum(one < 0 for one in moved))


def _picture(pairs: tuple[Pair, ...]) -> Markup:
    """Shift of the median with its interval, in per cent of A's, a row a configuration."""
    shares = [_shares(pair) for pair in pairs]
    low, high = min(0.0, *(one[1] for one in shares)), max(0.0, *(one[2] for one in shares))
    margin = 0.03 * (high - low) or 1.0  # no median moved: another distribution may have the same
    low, high = low - margin, high + margin
    height = TOP + ROW * len(pairs) + 30

    def x(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (RIGHT - LEFT)

    places, decimals = ticks(low, high, 7)
    bottom = height - 26
    parts = [
        element("title", "Shift of the median, with 95 % intervals"),
        *(
            element("line", x1=x(at), x2=x(at), y1=TOP - 8, y2=bottom, class_="zero" if at == 0 else "grid")
            for at in places
        ),
        *(
            element("text", f"{at:+.{decimals}f} %" if at else "0 %", x=x(at), y=height - 8, text_anchor="middle")
            for at in places
        ),
    ]
    for place, (pair, (middle, first, last)) in enumerate(zip(pairs, shares, strict=True)):
        y = TOP + ROW * (place + 0.5) - 8
        name = " ".join((pair.labels[-1], *pair.labels[:-1]))
        parts += [
            element("text", name[:46], x=LEFT - 12, y=y + 4, text_anchor="end"),
            element("line", x1=x(first), x2=x(last), y1=y, y2=y, class_="span"),
            element("circle", cx=x(middle), cy=y, r=4),
        ]
    return element("svg", *parts, viewBox=f"0 0 {WIDTH:.0f} {height:.0f}", class_="shifts", role="img")


def _shares(pair: Pair) -> tuple[float, float, float]:
    """Shift of the median and its interval, in per cent of A's median."""
    shift = pair.comparison.shifts[QUANTILES.index(0.5)]
    scale = 100 / abs(shift.a) if shift.a else 0.0
    return shift.difference * scale, shift.low * scale, shift.high * scale
