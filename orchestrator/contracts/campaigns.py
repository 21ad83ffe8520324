"""Campaigns: a study as submitted, with all that came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from orchestrator.contracts.confirmations import Confirmation
from orchestrator.contracts.designs import Design, Level
from orchestrator.contracts.jobs import PlannedJob
from orchestrator.contracts.rounds import Growth


class State(StrEnum):
    """Where a campaign stands. Paused is a flag beside it, for a paused campaign may also be cancelled."""

    RUNNING = "running"
    COMPLETE = "complete"
    """Exactly one valid run for every setting and replicate."""
    INCOMPLETE = "incomplete"
    """Ended with something missing; `missing` says what, and why."""
    CANCELLED = "cancelled"


@dataclass(frozen=True, kw_only=True, slots=True)
class Campaign:
    """A campaign as the ledger shows it."""

    id: int
    name: str
    state: State
    paused: bool
    parent_id: int | None
    engine: str
    factors: tuple[str, ...]
    replicates: int
    settings: int
    configurations: int
    expected_runs: int
    created_at: float
    """Seconds since the epoch, by the database's clock."""
    ended_at: float | None
    missing: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of (setting, replicate) pairs that have no valid run; only when ended."""
    archive: str | None = None
    """The folder its rows were moved to; only its counters are still in the ledger."""
    grows: str | None = None
    """By which policy it goes on in rounds (`rounds.Growth`), after its first with `replicates`. None: it does not."""
    has_canaries: bool = False
    """Settings that every node measures at intervals (`canaries.CanaryReport`)."""
    analysis_version: int = 1
    """Which version of its analysis is shown (`analyses.AnalysisVersion`); those after the first are exploratory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeShare:
    """What one node did for a campaign."""

    node: str
    valid: int
    invalid: int
    superseded: int
    online: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a campaign is. Counted, never scanned."""

    campaign: Campaign
    valid_runs: int
    invalid_runs: int
    jobs: Mapping[str, int]
    """Job state -> count."""
    nodes: tuple[NodeShare, ...]
    analyses_done: int
    analyses_total: int
    verdicts: Mapping[str, int]
    """Verdict -> count, of the configurations analysed so far."""
    verdicts_final: bool
    elapsed_s: float
    """Since the first claim."""
    runs_per_s: float | None
    """Over the last minute; None before the first run."""
    time_left_s: float | None
    """The median of what may come (docs/service-rate.md); None: nobody can tell."""
    time_left_low_s: float | None = None
    time_left_high_s: float | None = None
    """With the one before, an 80 % interval."""
    waits_for: tuple[str, ...] = ()
    """Nodes that are offline and have jobs of their own to do."""
    lost: tuple[str, ...] = ()
    """Nodes that were offline for so long that the others have their share."""
    flags_judged: int = 0
    flags_to_judge: int = 0
    """Of a re-run that is measured: flags of the campaign before, until its verdicts are final. Both 0 otherwise."""


class EventKind(StrEnum):
    """What an event tells of."""

    NODE_QUARANTINED = "node_quarantined"
    NODE_LOST = "node_lost"
    """It is offline for long, and the others have its share."""
    NODE_RATE_CHANGED = "node_rate_changed"
    """It works faster or slower than before."""
    NODE_CRITICAL = "node_critical"
    """Rounds of a campaign wait for it again and again, or do so no longer."""
    JOB_SET_ASIDE = "job_set_aside"
    CAMPAIGN_ROUND = "campaign_round"
    """A round of a campaign that grows has ended, and it was decided what follows."""
    CAMPAIGN_COMPLETE = "campaign_complete"
    CAMPAIGN_INCOMPLETE = "campaign_incomplete"
    CAMPAIGN_CANCELLED = "campaign_cancelled"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something worth telling."""

    id: int
    """Later events have larger ones."""
    at: float
    kind: EventKind
    message: str
    campaign_id: int | None = None
    node: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    """A study, checked, enumerated and planned: everything the store needs to make a campaign of it."""

    name: str
    study: Mapping[str, object]
    """The study as JSON-able values, every default written out (`design.study.Study.as_dict`)."""
    design: Design
    replicates: int
    engine: str
    engine_options: Mapping[str, object]
    node_options: Mapping[str, object]
    analysis_options: Mapping[str, object]
    placement: str
    """'any', 'balanced', 'by_rate', 'pinned' or 'lockstep'."""
    on_lost_node: str = "reassign"
    """What becomes of a lost node's share: others get it ('reassign'), or it waits ('wait')."""
    max_tries: int
    controls: Mapping[str, Mapping[str, object]]
    """Control name -> options of the engine `replay` that plays it."""
    jobs: Sequence[PlannedJob]
    digest: str
    """SHA-256 of the study; the same key with another digest is a conflict."""
    idempotency_key: str | None = None
    parent_id: int | None = None
    growth: Growth | None = None
    """How it grows after the runs planned here; None: it does not."""
    analysis_versions: Sequence[tuple[Mapping[str, object], str]] = ()
    """Options and reason of each, of a campaign that was analysed elsewhere before; empty: there is only this one."""
    analysis_version: int = 1
    """Which of them `analysis_options` is, from 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """One configuration of a campaign and what is known about it."""

    campaign_id: int
    setting_id: int
    ordinal: int
    levels: tuple[Level, ...]
    mode: str
    control: str | None
    valid_runs: int
    replicates: int
    """How many make its sample complete."""
    verdict: str | None = None
    """None until analysed."""
    sentence: str | None = None
    final: bool = False
    """Verdicts are provisional until every configuration of the campaign has been analysed."""
    components: int | None = None
    family: str | None = None
    bic: float | None = None
    density_modes: int | None = None
    bic_gap: float | None = None
    dip_p: float | None = None
    dip_q: float | None = None
    error: str | None = None
    """Why no fit was possible."""
    median: float | None = None
    """Of the sample, in the campaign's unit."""
    variation: float | None = None
    """Coefficient of variation of the sample."""
    confirmation: Confirmation | None = None
    """In a re-run: what it says about the flag; None for what was not flagged before, and until verdicts are final."""
    needed_runs: int | None = None
    """Runs that the target of an adaptive campaign asks for, by the fit of those there are; at most 10^9."""

    @property
    def reached(self) -> float | None:
        """The largest standard error of its quantiles, in units of the target; None: without a target, or a fit."""
        return None if self.needed_runs is None or self.valid_runs == 0 else (self.needed_runs / self.valid_runs) ** 0.5

    @property
    def identity(self) -> tuple[object, ...]:
        """The same in a campaign and in its re-runs, which number their settings anew."""
        return self.control, self.levels, self.mode


WARM_UP = "warm-up, not analysed"
"""What an export says of valid runs that are set aside (`analysis: {discard: ...}`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportRow:
    """One measured value, with where it came from."""

    levels: tuple[Level, ...]
    control: str | None
    mode: str
    replicate: int
    value: float | None
    """In the campaign's metric and unit; None for a run that failed."""
    node: str
    job: int
    block: int
    position: int
    started_at: float
    valid: str
    """contracts.runs.Validity."""
    reason: str | None
    """Why it is invalid; `WARM_UP` of a valid run that the analysis sets aside."""
