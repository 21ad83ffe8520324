"""Does a flag come back in new runs, and how many of them would show it?"""

from analysis.confirmation.confirm import Confirmation, Pooled, confirm
from analysis.confirmation.power import TARGET, power, runs_for_power

__all__ = ["TARGET", "Confirmation", "Pooled", "confirm", "power", "runs_for_power"]
