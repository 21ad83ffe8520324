"""Analysis is work in the ledger too (DESIGN 9)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

FLAGGED = "multimodal"
"""The verdict that is a flag: a question to be answered by a re-run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis:
    """One configuration to analyse, leased: its sample and what proves that it is still the same sample."""

    id: int
    campaign_id: int
    setting_id: int
    mode: str
    digest: str
    """Of the ids of the runs it is about; a result is stored only while it is current."""
    options: Mapping[str, Any]
    sample: tuple[float, ...]
    """Throughputs of the valid runs, in order of replicate; without those that the options set aside as warm-up."""
    runs: int
    """How many valid runs there are, those set aside too."""
    jobs: tuple[int, ...] = ()
    """The job of each run of the sample."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Analyses leased together; the token proves the claim."""

    token: UUID
    version: str
    analyses: tuple[Analysis, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What came of one analysis: a selection, or the reason why there is none."""

    analysis_id: int
    digest: str
    selection: Mapping[str, Any] | None
    """`analysis.mixture.Selection.as_dict()`."""
    verdict: str | None
    """Provisional; made final when all configurations of the campaign are analysed."""
    sentence: str | None
    error: str | None = None
    fit_s: float | None = None
    """How long it took, a batch shared out evenly."""
    median: float | None = None
    """Of the sample, in its unit."""
    variation: float | None = None
    """Coefficient of variation of the sample: standard deviation (n - 1) / mean; None where the mean is 0."""
    family_bics: Mapping[str, float] | None = None
    """Family -> BIC of its best fit."""
    needed_runs: int | None = None
    """Runs that the target of an adaptive campaign asks for (`campaigns.Configuration.needed_runs`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """The final word on one analysis, with the false-discovery control over the whole campaign."""

    analysis_id: int
    dip_q: float | None
    verdict: str
    sentence: str
    confirmation: Mapping[str, Any] | None = None
    """`analysis.confirmation.Confirmation.as_dict()`: of a flagged configuration that was measured again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitted:
    """An analysed configuration with its sample and its whole selection, for reports and pages."""

    id: int
    setting_id: int
    mode: str
    sample: tuple[float, ...]
    selection: Mapping[str, Any] | None
    dip_q: float | None
    verdict: str | None
    sentence: str | None
    error: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RepeatedFlag:
    """A configuration of a re-run that was flagged in the campaign before."""

    setting_id: int
    """In the re-run."""
    first_setting_id: int
    """In the campaign before."""
    mode: str
    dip_q: float
    """Of the new runs, over all flags that were measured again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeasedFlag:
    """A flag to be judged, with the fits of its first and of its new runs."""

    first: Fitted
    again: Fitted
    dip_q: float
    """`RepeatedFlag.dip_q`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FlagBatch:
    """Flags leased together; the token proves the claim."""

    token: UUID
    flags: tuple[LeasedFlag, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionChange:
    """One option in two versions of an analysis; None: it was not there."""

    submitted: Any
    here: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class AnalysisVersion:
    """One choice of options for a campaign's analysis. Fits of one version never change another's."""

    number: int
    """1: as it was submitted."""
    exploratory: bool
    """Made after the runs could be seen: what it finds is to be confirmed by a re-run."""
    options: Mapping[str, Any]
    digest: str
    """`options_digest` of the options, kept when the version was made."""
    changed: Mapping[str, OptionChange]
    """By option."""
    why: str
    """Empty for the first."""
    made_at: float
    shown: bool
    """Is it the one that pages, answers and reports are about?"""


def options_digest(options: Mapping[str, Any]) -> str:
    """SHA-256 of the options as canonical JSON, in hexadecimal."""
    canonical = json.dumps(dict(options), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
