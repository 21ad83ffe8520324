"""The two filters of the published method, as printed.

Beard and Chamberlain (2015): a Gaussian of radius 2 smooths the counts; a Laplacian of a Gaussian (radius 1,
sigma 1/2) looks for the place where the standard error of the mean stops changing.
"""

import math

GAUSSIAN_RADIUS = 2
LAPLACIAN_SIGMA = 0.5


def gaussian(*, normalised: bool = True) -> tuple[float, ...]:
    """exp(-x^2 / 2) / sqrt(2 pi) at -2 .. 2. As printed it sums to 0.9909; normalised, a constant passes unchanged."""
    at = range(-GAUSSIAN_RADIUS, GAUSSIAN_RADIUS + 1)
    printed = [math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in at]
    total = math.fsum(printed) if normalised else 1.0
    return tuple(weight / total for weight in printed)


def laplacian(*, zero_sum: bool = True) -> tuple[float, ...]:
    """Second derivative of a Gaussian at -1, 0, 1: [1.296, -3.192, 1.296] as printed.

    These sum to -0.6, so that a constant would not pass as 0; with `zero_sum` their mean is subtracted.
    """
    variance = LAPLACIAN_SIGMA**2
    printed = [
        (x * x - variance) / (math.sqrt(2 * math.pi) * LAPLACIAN_SIGMA**5) * math.exp(-x * x / (2 * variance))
        for x in (-1, 0, 1)
    ]
    mean = math.fsum(printed) / 3 if zero_sum else 0.0
    return tuple(weight - mean for weight in printed)
