"""How likely a whole period passes without blocking, for a queue of capacity C at utilisation rho.

Beard and Chamberlain (2015), equations 1 and 2, with k = ceil(mu T): the items that are served in a period.
"""

import math

from analysis.errors import BadOptionsError


def items_a_period(*, service_rate: float, period_s: float) -> int:
    """k = ceil(mu T), for mu items a second and T seconds."""
    if not (service_rate > 0 and period_s > 0 and math.isfinite(service_rate * period_s)):
        raise BadOptionsError("a service rate and a period are numbers above 0")
    return math.ceil(service_rate * period_s)


def pr_read(*, utilisation: float, service_rate: float, period_s: float) -> float:
    """Pr(read) = rho^k: that a reader of k items never finds the queue empty."""
    k = items_a_period(service_rate=service_rate, period_s=period_s)
    return float(_checked(utilisation) ** k)


def pr_write(*, utilisation: float, service_rate: float, period_s: float, capacity: int) -> float:
    """Pr(write) = 1 - rho^(C - k + 1) if C >= mu T, else 0: that a writer of k items never finds the queue full."""
    if capacity < 1:
        raise BadOptionsError(f"a queue holds at least 1 item, not {capacity}")
    k = items_a_period(service_rate=service_rate, period_s=period_s)
    if capacity < service_rate * period_s:
        return 0.0
    return 1.0 - float(_checked(utilisation) ** (capacity - k + 1))


def _checked(utilisation: float) -> float:
    if not 0 <= utilisation <= 1:
        raise BadOptionsError(f"these probabilities hold for a utilisation from 0 to 1, not {utilisation:g}")
    return utilisation
