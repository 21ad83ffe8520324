"""Does service look exponential or deterministic? By the squared coefficient of variation of a service time.

It is 1 for exponential and 0 for deterministic service. From counts it is their variance over their mean (renewal
theorem), from inter-completion times it is direct.
"""

import math
from typing import Literal

Shape = Literal["exponential", "deterministic", "neither", "unknown"]
EXPONENTIAL = (0.6, 1.6)
DETERMINISTIC = 0.2
FEWEST = 64
COVERAGE_Z = 1.959964


def shape(cv2: float, n: int) -> Shape:
    """Judge `cv2`, estimated from `n` values; unknown where its 95 % interval holds borders of both."""
    if n < FEWEST:
        return "unknown"
    reach = math.exp(COVERAGE_Z * math.sqrt(2 / n))
    low, high = cv2 / reach, cv2 * reach
    if low <= DETERMINISTIC and high >= EXPONENTIAL[0]:
        return "unknown"
    if cv2 <= DETERMINISTIC:
        return "deterministic"
    return "exponential" if EXPONENTIAL[0] <= cv2 <= EXPONENTIAL[1] else "neither"
