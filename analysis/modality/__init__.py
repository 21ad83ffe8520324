"""Is a configuration's performance one thing or several? Density modes, the dip test, verdicts."""

from analysis.modality.density import DensityMode, density_modes
from analysis.modality.dip import dip_q_values
from analysis.modality.verdicts import Verdict, verdict

__all__ = ["DensityMode", "Verdict", "density_modes", "dip_q_values", "verdict"]
