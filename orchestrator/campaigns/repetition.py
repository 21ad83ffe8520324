"""Which settings of a campaign a re-run measures again, and whether it found the same."""

from __future__ import annotations

import dataclasses
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from orchestrator.campaigns import sizing
from orchestrator.campaigns.admission import check_engines
from orchestrator.campaigns.sizing import Size
from orchestrator.contracts.campaigns import Campaign, Configuration, Progress
from orchestrator.contracts.errors import ConflictError, NotFoundError
from orchestrator.store.ports import Store
from orchestrator.store.rules import no_configuration

AS_BEFORE = Size()
INCOMPLETE = "incomplete"
"""Beside the verdicts: the flag of whatever lacks valid runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeated:
    """A configuration measured twice: in a campaign and in its re-run."""

    first: Configuration
    again: Configuration

    @property
    def held(self) -> bool | None:
        """Did both get the same verdict? None while either has none."""
        if self.first.verdict is None or self.again.verdict is None:
            return None
        return self.first.verdict == self.again.verdict


def pairs(first: Iterable[Configuration], again: Iterable[Configuration]) -> tuple[Repeated, ...]:
    """The configurations of `first` that are also in `again`, in the order of `first`."""
    measured_again = {found.identity: found for found in again}
    return tuple(
        Repeated(first=found, again=measured_again[found.identity])
        for found in first
        if found.identity in measured_again
    )


def flagged(flag: str, progress: Progress, configurations: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """Those that carry this flag, in order.

    All modes of their settings are measured again: they come from one invocation.
    Raises ConflictError when the verdicts are not final, or nothing carries the flag.
    """
    campaign = progress.campaign
    if flag == INCOMPLETE:
        chosen = [found for found in configurations if found.valid_runs < found.replicates]
    else:
        _check_final(flag, progress)
        chosen = [found for found in configurations if found.verdict == flag]
    if not chosen:
        raise ConflictError(_nothing(flag, campaign, configurations))
    return tuple(chosen)


def filtered(campaign_id: int, found: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """Whatever passed a filter. Raises ConflictError when that is nothing."""
    if not found:
        raise ConflictError(f"campaign {campaign_id}: no configuration passes this filter; nothing to re-run")
    return tuple(found)


def picked(
    pairs: Collection[tuple[int, str]], campaign_id: int, found: Iterable[Configuration]
) -> tuple[Configuration, ...]:
    """The configurations of these (setting id, mode) pairs.

    `found`: the campaign's configurations. Raises NotFoundError for a pair that is not among them.
    """
    known = {(one.setting_id, one.mode): one for one in found}
    missing = [pair for pair in pairs if pair not in known]
    if missing:
        raise NotFoundError(no_configuration(campaign_id, *missing[0]))
    return tuple(known[pair] for pair in pairs)


def of_settings(
    setting_ids: Collection[int], campaign_id: int, found: Iterable[Configuration]
) -> tuple[Configuration, ...]:
    """All configurations of these settings, of `found`. Raises NotFoundError for a setting that is not among them."""
    chosen = tuple(one for one in found if one.setting_id in setting_ids)
    missing = set(setting_ids) - {one.setting_id for one in chosen}
    if missing:
        raise NotFoundError(no_configuration(campaign_id, min(missing), "any"))
    return chosen


def submit(
    store: Store,
    campaign_id: int,
    chosen: Sequence[Configuration],
    *,
    key: str,
    seed: int | None = None,
    size: Size = AS_BEFORE,
    nodes: str | Sequence[str] = sizing.SAME,
) -> tuple[Campaign, bool]:
    """Store a child campaign of the settings of these configurations; True when it is new.

    A setting is measured once, however many of its modes are chosen. `nodes`: `sizing.SAME` (those that measured it,
    in the same proportions), `sizing.ANY` (as the campaign was placed) or names. Without a seed it is drawn from the
    key, so that a repeated request plans the same child and not a conflicting one.
    Raises MissingPartError when no node has the engine, ConflictError and RequestError as `sizing` does.
    """
    from orchestrator.design.submission import rerun

    known = store.nodes.all()
    child = rerun(
        store.campaigns.study(campaign_id),
        store.campaigns.design(campaign_id),
        sorted({one.ordinal for one in chosen}),
        seed=zlib.crc32(f"{campaign_id} {key}".encode()) if seed is None else seed,
        replicates=sizing.replicates(store, campaign_id, chosen, size),
        parent_id=campaign_id,
        nodes=[node.name for node in known],
        shares=sizing.shares(store, campaign_id, chosen, nodes),
    )
    planned = dataclasses.replace(child, idempotency_key=key)
    check_engines(planned, known)
    return store.campaigns.submit(planned)


def _check_final(flag: str, progress: Progress) -> None:
    if not progress.verdicts_final:
        raise ConflictError(
            f"campaign {progress.campaign.id}: its verdicts are not final yet "
            f"({progress.analyses_done} of {progress.analyses_total} configurations analysed); "
            f"wait with `modescope campaign watch {progress.campaign.id}`, then re-run what is {flag}"
        )


def _nothing(flag: str, campaign: Campaign, configurations: Sequence[Configuration]) -> str:
    verdicts = Counter(found.verdict for found in configurations if found.verdict)
    known = ", ".join(f"{verdict} {count}" for verdict, count in verdicts.most_common()) or "no verdict yet"
    return f"campaign {campaign.id}: none of its configurations is {flag!r} ({known}); nothing to re-run"
