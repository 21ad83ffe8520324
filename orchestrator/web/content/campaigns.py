"""The list of campaigns: re-runs under what they repeat, a page at a time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.contracts.analyses import FLAGGED
from orchestrator.contracts.overviews import Overview
from orchestrator.store.ports import Store

ROOTS_A_PAGE = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A campaign in a list."""

    overview: Overview
    depth: int
    """How many re-runs it is away from the campaign it descends from."""
    age_s: float

    @property
    def measured(self) -> float:
        """The share of its runs that is there, from 0 to 1."""
        return self.overview.valid_runs / max(self.overview.campaign.expected_runs, 1)

    @property
    def flagged(self) -> int:
        """Flagged configurations, of those analysed."""
        return self.overview.verdicts.get(FLAGGED, 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """One page of the list."""

    rows: tuple[Row, ...]
    older: int | None
    """Campaigns with a smaller id come next; None: there are none."""
    first: bool


def gather(store: Store, *, before: int | None = None) -> Listed:
    """Ask the store for one page."""
    found = store.overviews.campaigns(before=before, limit=ROOTS_A_PAGE + 1)
    roots = list(dict.fromkeys(one.root_id for one in found))
    more = len(roots) > ROOTS_A_PAGE
    shown = [one for one in found if one.root_id != roots[-1]] if more else found
    return Listed(rows=rows(shown), older=roots[-2] if more else None, first=before is None)


def rows(found: Sequence[Overview]) -> tuple[Row, ...]:
    """In the order of a family tree: every re-run directly under what it repeats."""
    children: dict[int | None, list[Overview]] = {}
    known = {one.campaign.id for one in found}
    for one in found:
        parent = one.campaign.parent_id if one.campaign.parent_id in known else None
        children.setdefault(parent, []).append(one)
    now, listed = time.time(), []
    waiting = [(one, 0) for one in reversed(children.get(None, []))]
    while waiting:
        one, depth = waiting.pop()
        listed.append(Row(overview=one, depth=depth, age_s=max(0.0, now - one.campaign.created_at)))
        waiting += [(child, depth + 1) for child in reversed(children.get(one.campaign.id, []))]
    return tuple(listed)
