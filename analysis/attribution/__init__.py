"""What goes with the density modes of a configuration: nodes, time, or the circumstances of a run."""

from analysis.attribution.explanation import Explanation, Finding, Invocation, explain
from analysis.attribution.invocation import rank_in_others
from analysis.attribution.membership import mode_weights, valleys
from analysis.attribution.runs import Runs

__all__ = ["Explanation", "Finding", "Invocation", "Runs", "explain", "mode_weights", "rank_in_others", "valleys"]
