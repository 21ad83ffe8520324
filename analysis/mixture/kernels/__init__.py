"""The fitting loops, behind one port: compiled where numba is installed, in NumPy everywhere else."""

from functools import cache
from importlib.util import find_spec

from analysis.mixture.kernels import array_kernels
from analysis.mixture.kernels.port import Kernels, Optimum

__all__ = ["Kernels", "Optimum", "best_kernels"]


@cache
def best_kernels() -> Kernels:
    """The fastest loops that this installation has."""
    if find_spec("numba") is None:
        return array_kernels
    from analysis.mixture.kernels import compiled_kernels

    compiled_kernels.prepare()
    return compiled_kernels
