"""Did it change? Two samples of one configuration side by side: shifts of quantiles, distances, false discoveries."""

from analysis.comparison.samples import FEWEST, QUANTILES, Comparison, FalseDiscovery, compare, false_discovery
from analysis.comparison.shifts import Shift

__all__ = ["FEWEST", "QUANTILES", "Comparison", "FalseDiscovery", "Shift", "compare", "false_discovery"]
