"""Do nodes measure the same, and does it stay the same? From canary settings that all of them measure at intervals."""

from analysis.equivalence.nodes import ALPHA, FEWEST_VISITS, MARGIN, NodeFound, compare_nodes
from analysis.equivalence.scores import Scores

__all__ = ["ALPHA", "FEWEST_VISITS", "MARGIN", "NodeFound", "Scores", "compare_nodes"]
