"""The fitting loops, behind one port: compiled where numba is installed, in NumPy everywhere else."""

from functools import cache

from analysis.mixture.kernels import array_kernels
from analysis.mixture.kernels.port import Kernels, Optimum

__all__ = ["Kernels", "Optimum", "best_kernels"]


@cache
def best_kernels() -> Kernels:
    """The fastest loops that this installation has."""
    return array_kernels
