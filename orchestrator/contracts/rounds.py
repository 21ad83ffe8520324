"""Campaigns that grow in rounds: measure, analyse, decide how many runs each setting shall have, and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FIXED = 150
"""Runs of every setting, as in the published study: what adaptive campaigns are compared with."""
ADAPTIVE = "adaptive"
"""The policy of studies with `adaptive:`: every setting is measured as often as its fits ask for."""
ACTIVE = "active"
"""The policy of studies with `active:`: of all settings, those are measured that tell most of the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Growth:
    """How a campaign grows: by which policy, and how the jobs of another round are cut and ordered."""

    policy: str
    """Which of `workers.growing.POLICIES` decides."""
    options: Mapping[str, object]
    """Of the policy, JSON-able; the store does not read them."""
    replicates_per_job: int
    randomised: bool = True
    """In complete blocks, each shuffled on its own; or in the order of the design."""
    seed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """A round whose runs are all in and analysed, and of which nobody has decided what follows."""

    campaign_id: int
    number: int
    """From 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What follows a round."""

    number: int
    """Of the round that ends."""
    replicates: Mapping[int, int]
    """Setting id -> how many runs it shall have altogether; empty: the campaign has grown enough, and may end."""
    record: Mapping[str, object]
    """What the policy says of it, JSON-able: kept with the round and shown as it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """A round that ended, and what was decided then."""

    number: int
    decided_at: float
    settings: int
    """That go on; 0: it was the last round."""
    runs: int
    """That the next round adds."""
    record: Mapping[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Adaptation:
    """What an adaptive campaign has come to. Controls do not count."""

    rounds: tuple[Round, ...]
    """Those that have ended."""
    over: bool
    """Has it grown enough, or been ended?"""
    options: Mapping[str, object]
    """Pilot, target, scale, quantiles, quantile_from, max: as the study says."""
    settings: int
    runs: int
    """That are valid."""
    fixed_runs: int
    """What `FIXED` runs of every setting would have been."""
    configurations: int
    """Those with a fit."""
    met: int
    """Of these: the standard errors of all quantiles are within the target."""
    fixed_met: int
    """Of these: they would be with `FIXED` runs, by the same fits."""
    at_max: int
    """Settings that have as many runs as any may have, and a configuration beyond the target."""
    reached_median: float | None
    """Of the configurations' largest standard errors, in targets; None before there is a fit."""
    reached_worst: float | None

    @property
    def saved_runs(self) -> int:
        """Against `FIXED` runs of every setting; less than 0 where the target asked for more."""
        return self.fixed_runs - self.runs


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What an active campaign has come to, as its last round found it. Controls do not count."""

    rounds: tuple[Round, ...]
    """Those that have ended."""
    over: bool
    """Is enough measured, or was it ended?"""
    options: Mapping[str, object]
    """First, batch, most, good_enough: as the study says."""
    settings: int
    """All that might be measured."""
    measured: int | None
    """Settings of all rounds so far, that which is under way too; None in the first."""
    expected_distance: float | None
    """Of Kolmogorov and Smirnov, between predictions and samples of what was left; None in the first round, where
    nothing is left, and where nothing can be predicted."""
    saved_node_hours: float | None
    """By what was left after the last round that ended, were it the last; None in the first."""
    unpredictable: str | None
    """Why nothing could be predicted, which ends it."""
