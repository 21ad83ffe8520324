"""What follows from the samples: fits, flags, versions of the analysis, findings."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from orchestrator.contracts.analyses import (
    AnalysisVersion,
    Batch,
    Fitted,
    FlagBatch,
    Judgement,
    RepeatedFlag,
    Result,
)
from orchestrator.contracts.campaigns import (
    Configuration,
)
from orchestrator.contracts.circumstances import Circumstance
from orchestrator.contracts.findings import EngineUse, Outcome, RunPage, Summary
from orchestrator.store import rules


class Analyses(Protocol):
    """Samples to be fitted."""

    def lease(self, version: str, *, limit: int = 50, lease_s: float = rules.ANALYSIS_LEASE_S) -> Batch | None:
        """A batch of configurations whose sample is complete and not analysed yet; None when there is none."""

    def renew(self, batch: Batch, *, lease_s: float = rules.ANALYSIS_LEASE_S) -> int:
        """Prolong the leases of a batch from now, of those that nobody else took; how many that were."""

    def store(self, batch: Batch, results: Sequence[Result]) -> int:
        """Keep the results whose digest is still current; how many were kept."""

    def unjudged(self, version: str) -> list[int]:
        """Campaigns whose analyses are all done, and whose verdicts are not final."""

    def judge(self, campaign_id: int, version: str, judgements: Sequence[Judgement]) -> bool:
        """Make verdicts final; False (and nothing stored) when an analysis has been opened meanwhile."""

    def fitted(
        self, campaign_id: int, *, verdict: str | None = None, whole: bool = True
    ) -> Generator[Fitted, None, None]:
        """Analysed configurations with sample and selection, in order of setting and mode; streamed.

        Not `whole`: without selections, which are ten times as large as all the rest. Who may not come to its end
        closes it: it holds a connection.
        """


class Flags(Protocol):
    """Flags that a re-run measured again, judged one by one before its verdicts are made final (`Analyses.judge`)."""

    def plan(self, campaign_id: int, flags: Sequence[RepeatedFlag]) -> None:
        """Exactly these are to be judged. What was judged already stays so, unless a fit or its dip q is another."""

    def lease(self, campaign_id: int, *, limit: int, lease_s: float = rules.ANALYSIS_LEASE_S) -> FlagBatch | None:
        """Some that nobody has in hand, and both of whose fits still are those that were planned; None: no such."""

    def renew(self, batch: FlagBatch, *, lease_s: float = rules.ANALYSIS_LEASE_S) -> int:
        """Prolong the leases of a batch from now, of those that nobody else took; how many that were."""

    def store(self, batch: FlagBatch, found: Mapping[int, Mapping[str, Any] | None]) -> int:
        """Keep confirming verdicts by the analysis of the new runs, None: it cannot be judged. How many were kept."""

    def found(self, campaign_id: int) -> Mapping[int, Mapping[str, Any] | None] | None:
        """The confirming verdicts by the analysis of the new runs; None while one is open."""


class Versions(Protocol):
    """A campaign's analysis as it was submitted, and what was changed afterwards. It shows one version at a time.

    Nothing of an earlier version is lost or changed: its fits and verdicts are back when it is shown again.
    """

    def of_campaign(self, campaign_id: int) -> list[AnalysisVersion]:
        """In order, the first as submitted. Raises NotFoundError."""

    def make(self, campaign_id: int, options: Mapping[str, Any], why: str) -> AnalysisVersion:
        """Analyse its samples anew with these options, and show that.

        Raises NotFoundError, and ConflictError while it runs, when it is archived, and for options that a version has.
        """

    def show(self, campaign_id: int, number: int) -> AnalysisVersion:
        """Show this version; what of it is not analysed yet will be. Raises as `make`, NotFoundError for the number."""


class Findings(Protocol):
    """What came out, for pages.

    All but `repeats`, `elapsed_s`, `shares` and `circumstances` raise NotFoundError for what is not there.
    """

    def outcomes(self, campaign_id: int) -> list[Outcome]:
        """Every configuration but controls, in order of setting and mode; in few words, for there are many."""

    def summary(self, campaign_id: int) -> Summary:
        """The study's tables."""

    def repeats(self, campaign_id: int, setting_id: int, mode: str) -> list[Configuration]:
        """The same configuration in the campaign that this one re-runs, and in its re-runs; the oldest first."""

    def elapsed_s(self, campaign_id: int, setting_ids: Collection[int]) -> dict[int, float]:
        """Setting -> mean duration of its first `rules.TIMED` replicates; without those that have no valid run."""

    def shares(self, campaign_id: int, setting_ids: Collection[int]) -> dict[int, dict[str, int]]:
        """Setting -> node -> its valid runs; without settings that have none."""

    def circumstances(self, campaign_id: int, setting_id: int) -> list[Circumstance]:
        """The setting's valid runs in order of start; `Runs.told` has what was observed around them."""

    def engines(self, campaign_id: int) -> list[EngineUse]:
        """What its valid runs were measured with, by node, engine and version; reads all of them."""

    def run(self, campaign_id: int, run_id: UUID) -> RunPage:
        """One run with all that was told and observed."""
