"""To which density mode a run belongs, by posterior weights."""

from collections.abc import Sequence

import numpy as np

from analysis.arrays import Array
from analysis.mixture.fit import Fit
from analysis.modality.density import DensityMode


def valleys(fit: Fit, modes: Sequence[DensityMode]) -> list[float]:
    """The values between neighbouring density modes: a mode's share is the probability up to the next valley."""
    ends = np.cumsum([mode.share for mode in modes])[:-1]
    return [fit.quantile(float(end)) for end in ends if 0 < end < 1]


def mode_weights(fit: Fit, modes: Sequence[DensityMode], values: Array) -> Array:
    """Posterior probability that a run comes from a component of each density mode, (n, modes).

    A component belongs to the density mode in which its median lies: two components may share a peak.
    """
    joint = fit.component_pdf(values).T
    total = np.sum(joint, axis=1, keepdims=True)
    nearest = np.abs(values[:, None] - fit.component_quantiles(0.5)).argmin(axis=1)
    # Far out, all densities vanish: the nearest component takes the run.
    posterior = np.where(total > 0, joint / np.where(total > 0, total, 1), np.eye(fit.components)[nearest])
    mode_of = np.searchsorted(valleys(fit, modes), fit.component_quantiles(0.5))
    weights = np.zeros((len(values), len(modes)))
    for component, mode in enumerate(mode_of):
        weights[:, mode] += posterior[:, component]
    return weights
