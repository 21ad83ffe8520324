"""The result of fitting one family with k components: a frozen value with the methods of a distribution."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import Array
from analysis.mixture.families import FAMILIES, Family
from analysis.mixture.options import Options
from analysis.mixture.quantiles import quantile, quantile_se
from analysis.modality.density import DensityMode, density_modes

GRID_Z = np.linspace(-4.5, 4.5, 73)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """A mixture of `components` distributions of one `family`, components sorted by their mean.

    `locations` and `scales` are the family's parameters in the units of x: mu and sigma of x (normal) or of log x
    (weibull, lognormal, loglogistic, frechet); shape and scale for the gamma.
    """

    family: str
    weights: tuple[float, ...]
    locations: tuple[float, ...]
    scales: tuple[float, ...]
    loglik: float
    n: int
    converged: bool
    iterations: int
    # Which components are as narrow as the floor allows.
    at_floor: tuple[bool, ...]

    @property
    def floor_active(self) -> bool:
        """Whether a component is as narrow as the floor allows."""
        return any(self.at_floor)

    @property
    def components(self) -> int:
        """Number of components k."""
        return len(self.weights)

    @property
    def parameters(self) -> int:
        """Number of free parameters, 3 k - 1."""
        return 3 * self.components - 1

    @property
    def bic(self) -> float:
        """-2 loglik + p log n: smaller is better."""
        return -2 * self.loglik + self.parameters * float(np.log(self.n))

    def component_pdf(self, x: ArrayLike) -> Array:
        """Weight times density of each component, shape (k, *x.shape)."""
        values, weight, location, scale = self._aligned(x)
        return weight * np.exp(self._law.logpdf(values, location, scale))

    def pdf(self, x: ArrayLike) -> Array:
        """Density at x."""
        value: Array = np.sum(self.component_pdf(x), axis=0)
        return value

    def logpdf(self, x: ArrayLike) -> Array:
        """Log-density at x, by log-sum-exp."""
        values, weight, location, scale = self._aligned(x)
        with np.errstate(divide="ignore"):
            value: Array = np.logaddexp.reduce(np.log(weight) + self._law.logpdf(values, location, scale), axis=0)
        return value

    def component_cdf(self, x: ArrayLike) -> Array:
        """Distribution function of each component, shape (k, *x.shape)."""
        values, _, location, scale = self._aligned(x)
        return self._law.cdf(values, location, scale)

    def cdf(self, x: ArrayLike) -> Array:
        """Distribution function at x."""
        _, weight, _, _ = self._aligned(x)
        value: Array = np.sum(weight * self.component_cdf(x), axis=0)
        return value

    def component_means(self) -> Array:
        """Mean of each component in the units of x, (k,); inf where it does not exist."""
        return self._law.mean(np.array(self.locations), np.array(self.scales))

    def component_quantiles(self, q: float) -> Array:
        """The q-quantile of each component, (k,)."""
        return self._law.quantile(q, np.array(self.locations), np.array(self.scales))

    def quantile(self, q: float) -> float:
        """The q-quantile, 0 < q < 1, in the units of x."""
        return quantile(self, q)

    def quantile_se(self, q: float) -> float:
        """Standard error of the q-quantile at this n. Raises `NoStandardErrorError` where it is not defined."""
        return quantile_se(self, q)

    def density_modes(self, options: Options | None = None) -> tuple[DensityMode, ...]:
        """The peaks of the density that count by the thresholds of `options`, from left to right."""
        chosen = options or Options()
        grid = self._grid()
        min_share = max(chosen.min_share, chosen.min_runs / self.n)
        return density_modes(
            grid, self.logpdf(grid), self.cdf, min_prominence=chosen.min_prominence, min_share=min_share
        )

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """`size` random values, in random order."""
        component = rng.choice(self.components, size=size, p=np.array(self.weights) / sum(self.weights))
        location, scale = np.array(self.locations)[component], np.array(self.scales)[component]
        return self._law.quantile(rng.random(size), location, scale)

    def as_dict(self) -> dict[str, Any]:
        """JSON values; `from_dict` is the inverse."""
        return {
            "family": self.family,
            "weights": list(self.weights),
            "locations": list(self.locations),
            "scales": list(self.scales),
            "loglik": self.loglik,
            "n": self.n,
            "converged": self.converged,
            "iterations": self.iterations,
            "at_floor": list(self.at_floor),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The fit that `as_dict` wrote."""
        lists = {name: tuple(values[name]) for name in ("weights", "locations", "scales", "at_floor")}
        return cls(**{**values, **lists})

    @property
    def _law(self) -> Family:
        return FAMILIES[self.family]

    def _grid(self) -> Array:
        """Sorted places fine enough to see every peak: an eighth of a scale apart around each component."""
        location, scale = np.array(self.locations)[:, None], np.array(self.scales)[:, None]
        return np.unique(self._law.places(GRID_Z, location, scale))

    def _aligned(self, x: ArrayLike) -> tuple[Array, Array, Array, Array]:
        """x, and the parameters shaped to broadcast against it along a new first axis."""
        values = np.asarray(x, dtype=np.float64)
        shape = (-1,) + (1,) * values.ndim
        weight, location, scale = (np.array(p).reshape(shape) for p in (self.weights, self.locations, self.scales))
        return values, weight, location, scale
