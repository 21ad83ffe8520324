"""The six families, in the paper's parametrisation, and how each reduces to one of four kernels.

A kernel is a standard density on the real line. The normal family uses it on x; the others use it on y = log x, the
Frechet on -y, because the largest extreme value distribution is the smallest extreme value distribution mirrored.
The gamma has no scale on the log axis: with y = log x, mean m and shape a its log-density is
a ((y - log m) - exp(y - log m)) + a log a - log Gamma(a) in y; `scale` is then a ** -0.5, its coefficient of variation.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from analysis.arrays import Array

HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))


class Kernel(IntEnum):
    """The densities that the fitting loops know."""

    NORMAL = 0
    LOGISTIC = 1
    SMALLEST_EXTREME = 2
    GAMMA = 3


class Axis(IntEnum):
    """The transformation of x on which a family's kernel works."""

    IDENTITY = 0
    LOG = 1
    MIRRORED_LOG = 2

    def forward(self, x: Array) -> Array:
        """x to the kernel's axis."""
        if self is Axis.IDENTITY:
            return x
        return np.log(x) if self is Axis.LOG else -np.log(x)


@dataclass(frozen=True, kw_only=True)
class Family:
    """One family of component distributions. Methods are vectorised over x and the parameters.

    `location` and `scale` are the family's own two parameters: mu and sigma of x (normal) or of log x (log families),
    shape and scale for the gamma.
    """

    name: str
    kernel: Kernel
    axis: Axis

    is_location_scale: ClassVar[bool] = True

    @cached_property
    def needs_positive(self) -> bool:
        """Whether x must be > 0."""
        return self.axis is not Axis.IDENTITY

    def standardise(self, x: Array, location: Array, scale: Array) -> Array:
        """z of x; for the mirrored axis too in the direction of growing x."""
        y = np.log(x) if self.needs_positive else x
        return (y - location) / scale

    def logpdf(self, x: Array, location: Array, scale: Array) -> Array:
        """Log-density in x; -inf outside the support."""
        inside = np.where(x > 0, x, 1.0) if self.needs_positive else x
        jacobian = np.log(inside) if self.needs_positive else 0.0
        z = self.standardise(inside, location, scale)
        value: Array = self._standard_logpdf(z) - np.log(scale) - jacobian
        return np.where(x > 0, value, -np.inf) if self.needs_positive else value

    def cdf(self, x: Array, location: Array, scale: Array) -> Array:
        """Distribution function; 0 below the support."""
        inside = np.where(x > 0, x, 1.0) if self.needs_positive else x
        value = self._standard_cdf(self.standardise(inside, location, scale))
        return np.where(x > 0, value, 0.0) if self.needs_positive else value

    def quantile(self, q: ArrayLike, location: Array, scale: Array) -> Array:
        """Inverse of `cdf`."""
        y: Array = location + scale * self._standard_quantile(np.asarray(q, dtype=np.float64))
        return np.exp(y) if self.needs_positive else y

    def mean(self, location: Array, scale: Array) -> Array:
        """Mean of x; inf where it does not exist."""
        raise NotImplementedError

    def mean_square(self, location: Array, scale: Array) -> Array:
        """Mean of x^2; inf where it does not exist. log x^2 = 2 log x has twice the location and twice the scale."""
        return self.mean(2 * location, 2 * scale) if self.needs_positive else location**2 + scale**2

    def places(self, z: Array, location: Array, scale: Array) -> Array:
        """x at standardised places z: what the density looks like around a component."""
        y = location + scale * z
        return np.exp(y) if self.needs_positive else y

    def score(self, x: Array, location: Array, scale: Array) -> tuple[Array, Array]:
        """Derivatives of `logpdf` in location and scale, for x inside the support."""
        z = self.standardise(x, location, scale)
        slope = self._standard_slope(z)
        return -slope / scale, -(1 + z * slope) / scale

    def cdf_gradient(self, x: Array, location: Array, scale: Array) -> tuple[Array, Array]:
        """Derivatives of `cdf` in location and scale, for x inside the support."""
        z = self.standardise(x, location, scale)
        density = np.exp(self._standard_logpdf(z)) / scale
        return -density, -z * density

    def from_kernel(self, location: Array, scale: Array, unit: float) -> tuple[Array, Array]:
        """Family parameters in the units of x from kernel parameters of x / unit."""
        if self.axis is Axis.IDENTITY:
            return location * unit, scale * unit
        sign = -1.0 if self.axis is Axis.MIRRORED_LOG else 1.0
        return sign * location + np.log(unit), scale

    def to_kernel(self, location: Array, scale: Array, unit: float) -> tuple[Array, Array]:
        """Inverse of `from_kernel`."""
        if self.axis is Axis.IDENTITY:
            return location / unit, scale / unit
        sign = -1.0 if self.axis is Axis.MIRRORED_LOG else 1.0
        return sign * (location - np.log(unit)), scale

    def _standard_logpdf(self, z: Array) -> Array:
        raise NotImplementedError

    def _standard_slope(self, z: Array) -> Array:
        """Derivative of `_standard_logpdf`."""
        raise NotImplementedError

    def _standard_cdf(self, z: Array) -> Array:
        raise NotImplementedError

    def _standard_quantile(self, q: Array) -> Array:
        raise NotImplementedError


class Normal(Family):
    """Normal, and with the log axis lognormal."""

    def mean(self, location: Array, scale: Array) -> Array:
        return np.exp(location + 0.5 * scale**2) if self.needs_positive else location

    def _standard_logpdf(self, z: Array) -> Array:
        return -0.5 * z**2 - HALF_LOG_TWO_PI

    def _standard_slope(self, z: Array) -> Array:
        return -z

    def _standard_cdf(self, z: Array) -> Array:
        value: Array = special.ndtr(z)
        return value

    def _standard_quantile(self, q: Array) -> Array:
        value: Array = special.ndtri(q)
        return value


class LogLogistic(Family):
    """log x is logistic."""

    def mean(self, location: Array, scale: Array) -> Array:
        angle: Array = np.pi * np.minimum(scale, 0.999999)
        return np.where(scale < 1, np.exp(location) * angle / np.sin(angle), np.inf)

    def _standard_logpdf(self, z: Array) -> Array:
        distance: Array = np.abs(z)
        value: Array = -distance - 2 * np.log1p(np.exp(-distance))
        return value

    def _standard_slope(self, z: Array) -> Array:
        return -np.tanh(0.5 * z)

    def _standard_cdf(self, z: Array) -> Array:
        value: Array = special.expit(z)
        return value

    def _standard_quantile(self, q: Array) -> Array:
        value: Array = special.logit(q)
        return value


def growth(z: Array) -> Array:
    """exp(z), finite for every z: a density that far out is 0 either way."""
    value: Array = np.exp(np.minimum(z, 700.0))
    return value


class Weibull(Family):
    """log x has the smallest extreme value distribution."""

    def mean(self, location: Array, scale: Array) -> Array:
        value: Array = np.exp(location + special.gammaln(1 + scale))
        return value

    def _standard_logpdf(self, z: Array) -> Array:
        return z - growth(z)

    def _standard_slope(self, z: Array) -> Array:
        return 1 - growth(z)

    def _standard_cdf(self, z: Array) -> Array:
        return -np.expm1(-growth(z))

    def _standard_quantile(self, q: Array) -> Array:
        return np.log(-np.log1p(-q))


class Frechet(Family):
    """log x has the largest extreme value distribution."""

    def mean(self, location: Array, scale: Array) -> Array:
        below_one = np.minimum(scale, 0.999999)
        return np.where(scale < 1, np.exp(location + special.gammaln(1 - below_one)), np.inf)

    def _standard_logpdf(self, z: Array) -> Array:
        return -z - growth(-z)

    def _standard_slope(self, z: Array) -> Array:
        return growth(-z) - 1

    def _standard_cdf(self, z: Array) -> Array:
        return np.exp(-growth(-z))

    def _standard_quantile(self, q: Array) -> Array:
        return -np.log(-np.log(q))


def gamma_terms(shape: Array) -> tuple[Array, Array, Array]:
    """c(a) = a log a - a - log Gamma(a) with its first two derivatives, without cancellation for large a."""
    large = np.maximum(shape, 50.0)
    inverse = 1 / large
    square = inverse * inverse
    small = np.minimum(shape, 50.0)
    value = 0.5 * np.log(large / (2 * np.pi)) - inverse * (1 / 12 - square * (1 / 360 - square / 1260))
    first = inverse * (0.5 + inverse * (1 / 12 - square * (1 / 120 - square / 252)))
    second = -square * (0.5 + inverse * (1 / 6 - square * (1 / 30 - square / 42)))
    below = shape < 50
    return (
        np.where(below, small * np.log(small) - small - special.gammaln(small), value),
        np.where(below, np.log(small) - special.digamma(small), first),
        np.where(below, 1 / small - special.polygamma(1, small), second),
    )


class Gamma(Family):
    """Gamma with shape (`location`) and scale (`scale`)."""

    is_location_scale: ClassVar[bool] = False

    def logpdf(self, x: Array, location: Array, scale: Array) -> Array:
        inside = np.where(x > 0, x, 1.0)
        w = np.log(inside / (location * scale))
        value = location * (w - np.expm1(w)) + gamma_terms(location)[0] - np.log(inside)
        return np.where(x > 0, value, -np.inf)

    def cdf(self, x: Array, location: Array, scale: Array) -> Array:
        value: Array = special.gammainc(location, np.maximum(x, 0.0) / scale)
        return value

    def quantile(self, q: ArrayLike, location: Array, scale: Array) -> Array:
        value: Array = scale * special.gammaincinv(location, np.asarray(q, dtype=np.float64))
        return value

    def mean(self, location: Array, scale: Array) -> Array:
        return location * scale

    def mean_square(self, location: Array, scale: Array) -> Array:
        return location * (location + 1) * scale**2

    def places(self, z: Array, location: Array, scale: Array) -> Array:
        return location * scale * np.exp(z * location**-0.5)

    def score(self, x: Array, location: Array, scale: Array) -> tuple[Array, Array]:
        return np.log(x / scale) - special.digamma(location), (x / scale - location) / scale

    def cdf_gradient(self, x: Array, location: Array, scale: Array) -> tuple[Array, Array]:
        # No closed form in the shape: a five-point difference, its step a hundredth of the shape's own scale.
        step = 0.01 * np.minimum(location, location**0.5)
        near, far = (self.cdf(x, location + m * step, scale) - self.cdf(x, location - m * step, scale) for m in (1, 2))
        by_shape = (8 * near - far) / (12 * step)
        return by_shape, -x / scale * np.exp(self.logpdf(x, location, scale))

    def from_kernel(self, location: Array, scale: Array, unit: float) -> tuple[Array, Array]:
        shape = scale**-2
        return shape, np.exp(location) * unit / shape

    def to_kernel(self, location: Array, scale: Array, unit: float) -> tuple[Array, Array]:
        return np.log(location * scale / unit), location**-0.5


# The fixed order that breaks ties of BIC: from light to heavy tails.
FAMILIES = MappingProxyType(
    {
        family.name: family
        for family in (
            Normal(name="normal", kernel=Kernel.NORMAL, axis=Axis.IDENTITY),
            Gamma(name="gamma", kernel=Kernel.GAMMA, axis=Axis.LOG),
            Weibull(name="weibull", kernel=Kernel.SMALLEST_EXTREME, axis=Axis.LOG),
            Normal(name="lognormal", kernel=Kernel.NORMAL, axis=Axis.LOG),
            LogLogistic(name="loglogistic", kernel=Kernel.LOGISTIC, axis=Axis.LOG),
            Frechet(name="frechet", kernel=Kernel.SMALLEST_EXTREME, axis=Axis.MIRRORED_LOG),
        )
    }
)
NAMES = tuple(FAMILIES)
