"""Online service rates: how fast a server works while nothing blocks it; and from rates, the time left."""

from analysis.service_rate.estimator import CountEstimator, TimeEstimator
from analysis.service_rate.outcomes import Estimate, NoEstimate, Outcome, PhaseChange, change_between
from analysis.service_rate.probabilities import pr_read, pr_write
from analysis.service_rate.published import Method
from analysis.service_rate.trace import Trace, outcomes

__all__ = [
    "CountEstimator",
    "Estimate",
    "Method",
    "NoEstimate",
    "Outcome",
    "PhaseChange",
    "TimeEstimator",
    "Trace",
    "change_between",
    "outcomes",
    "pr_read",
    "pr_write",
]
