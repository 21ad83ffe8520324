"""What was found, as pages about a whole design, one configuration or one run show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.designs import Level
from orchestrator.contracts.runs import Validity


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One configuration in a few numbers: what a map of the whole design shows of it. Never a control."""

    setting_id: int
    levels: tuple[Level, ...]
    mode: str
    verdict: str | None
    """None until analysed."""
    components: int | None
    variation: float | None
    """Coefficient of variation of the sample."""
    median: float | None
    """Of the sample, in the campaign's unit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FamilySummary:
    """How one family did over a campaign."""

    family: str
    bic_sum: float
    """Of its best BIC in each configuration; a smaller sum describes the campaign better."""
    fitted: int
    """In how many configurations it was fitted: only sums over as many can be compared."""
    best: int
    """In how many configurations it had the best BIC of all families."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """A campaign in two tables, as studies print them. Controls do not count."""

    analysed: int
    """Configurations with a fit."""
    families: tuple[FamilySummary, ...]
    """The smallest sum first; empty for campaigns that were analysed before these sums were kept."""
    components: Mapping[int, int]
    """Number of components of the best fit -> number of configurations, in order."""
    verdicts: Mapping[str, int]
    """Verdict -> number of configurations, the most frequent first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineUse:
    """What one node measured a campaign with: valid runs of one version of one engine."""

    node: str
    engine: str
    version: str
    runs: int
    first_at: float
    """Start of the first of them, in seconds since the epoch by the database's clock."""
    last_at: float
    """Start of the last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredRun:
    """One run as one configuration sees it."""

    id: UUID
    replicate: int
    value: float | None
    """In the campaign's unit; None for a run that failed."""
    node: str
    position: int
    """Place of its job in the campaign's order."""
    started_at: float
    elapsed_s: float
    """Of the whole invocation, which measures all modes of the setting."""
    validity: str
    """contracts.runs.Validity."""
    reason: str | None
    round: int | None = None
    """Of its job, in lockstep; None: any other placement."""
    start_at: float | None = None
    """The instant that was given to all of its round who were ready; None: it was not begun together with others."""
    warm_up: bool = False
    """Valid, and not analysed: one of the first runs of its job, which the analysis sets aside."""

    @property
    def counts(self) -> bool:
        """Is it one of the sample that is analysed?"""
        return self.validity == Validity.VALID and not self.warm_up


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigurationPage:
    """All that one page about a configuration shows."""

    configuration: Configuration
    selection: Mapping[str, object] | None
    """`analysis.mixture.Selection.as_dict`; None until analysed, and where no fit was possible."""
    runs: tuple[MeasuredRun, ...]
    """Every run of it, valid or not, in order of start."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPage:
    """One run with everything that was told and observed about it."""

    id: UUID
    setting_id: int
    modes: tuple[str, ...]
    values: tuple[float, ...]
    """In the order of `modes`; empty for a run that failed."""
    node: str
    replicate: int
    try_number: int
    sequence: int
    """Running number on its node, in its agent's session."""
    started_at: float
    elapsed_s: float
    settle_s: float | None
    engine: str
    engine_version: str
    exit_status: int | None
    validity: str
    reason: str | None
    details: Mapping[str, object]
    """What the engine said, by mode."""
    observed: Mapping[str, object]
    """The node's state around the run."""
