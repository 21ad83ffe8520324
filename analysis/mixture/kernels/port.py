"""What a set of fitting loops offers. Two implementations: `array_kernels` (NumPy) and `compiled_kernels` (numba)."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.mixture.families import Kernel
from analysis.mixture.sample import Points

# Newton stops when the gain it still predicts, in log-likelihood, is below this; convergence there is quadratic.
NEWTON_GAIN = 1e-7
NEWTON_STEPS = 60
# A climb is given up when Newton's own prediction stays below the target.
HOPE = 1.2
# ... and after these steps when the likelihood itself is still below it by this.
PATIENCE, BEHIND = 8, 1.0
CLOSE = 10.0
# Starts have met when no component differs by more than this: location in scales, log scale, weight.
MET = 0.15
# Damping of Newton's matrix, in units of the complete-data information (EM's own curvature).
DAMPING_MIN, DAMPING_MAX = 1e-3, 1e6
# exp() of this times any power of a double stays finite; a point there has density 0 anyway.
FARTHEST = 300.0
SMALLEST_WEIGHT = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Optimum:
    """Where Newton's method ended, one row per start: theta (starts, 3, k), the rest (starts,)."""

    theta: Array
    loglik: Array
    converged: Flags
    iterations: Indices


class Kernels(Protocol):
    """Loops over a batch of starts; theta has shape (starts, 3, k): weight, location, scale."""

    name: str

    def em(self, kernel: Kernel, points: Points, theta: Array, iterations: int) -> tuple[Array, Array]:
        """`iterations` EM steps from each start; returns theta, and the log-likelihoods (starts,) before the last step.

        A step never lowers the likelihood; where rounding makes it do so, the steps end.
        """
        ...

    def newton(self, kernel: Kernel, points: Points, theta: Array, target: float = -np.inf) -> Optimum:
        """Damped Newton steps on the marginal log-likelihood to a maximum, scale >= points.floor.

        A start ends early, not converged, where it cannot be expected to rise above `target`, or above the end of an
        earlier start.
        """
        ...

    def ranked(self, theta: Array, loglik: Array, finalists: int) -> Array:
        """The `finalists` highest of the starts from the highest down, without those that have met a higher one."""
        ...
