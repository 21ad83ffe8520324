"""What an estimator says: an estimate, why there is none, a change of phase."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from analysis.service_rate.phases import SMALLEST_CHANGE
from analysis.service_rate.shape import Shape

Basis = Literal["counts", "inter-completion times"]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Rates are in units of work a second; low and high bound `rate` with 95 % confidence."""

    time_s: float
    rate: float
    low: float
    high: float
    rate_published: float | None
    """q_mean d / T of Beard and Chamberlain; None from inter-completion times, where q is not defined."""
    basis: Basis
    n: int
    """Unblocked periods, or completions."""
    shape: Shape
    cv2: float
    partial_share: float
    outlier_share: float
    variance: float
    """Of unblocked counts a period, or of service times in seconds; so are the next two. Since the phase began."""
    skewness: float | None
    kurtosis: float | None

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {"outcome": "estimate"} | asdict(self)


@dataclass(frozen=True, kw_only=True)
class NoEstimate:
    """There is no estimate for what came before `time_s`, and why."""

    time_s: float
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {"outcome": "no estimate"} | asdict(self)


@dataclass(frozen=True, kw_only=True)
class PhaseChange:
    """The rate changed by the factor `ratio` at about `began_s`; noticed at `time_s`."""

    time_s: float
    began_s: float
    ratio: float

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {"outcome": "phase change"} | asdict(self)


Outcome = Estimate | NoEstimate | PhaseChange


def change_between(before: Estimate, after: Estimate) -> PhaseChange | None:
    """Between the last estimate on one basis and the first on another, where no detector sees both.

    A change of phase where they differ by at least the smallest change that a detector tells, beyond their intervals.
    """
    apart = after.low > before.high or after.high < before.low
    if not apart or abs(math.log(after.rate / before.rate)) < math.log1p(SMALLEST_CHANGE):
        return None
    return PhaseChange(time_s=after.time_s, began_s=before.time_s, ratio=after.rate / before.rate)
