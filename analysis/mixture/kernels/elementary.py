"""exp and log that the compiler turns into SIMD code: polynomials and exponent bits, relative error below 4e-16.

Compiled without the flags that allow reordering: they would undo the rounding to an integer.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Adding and taking away 1.5 * 2**52 rounds to an integer, which then stands in the low bits.
ROUNDER = 6755399441055744.0
ROUNDER_BITS = 0x4338000000000000
EXPONENT = -(1 << 52)  # the mask of sign and exponent bits
LOWEST, HIGHEST = -708.0, 709.0


def _bits(typing_context: Any, value: Any) -> Any:  # numba passes its own type objects
    """The 64 bits of a double as an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


def _double(typing_context: Any, bits: Any) -> Any:
    """The double that these 64 bits are."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


# In compiled code they take one argument; the type checker is not told of the other.
bits_of: Any = intrinsic(_bits)
double_of: Any = intrinsic(_double)


@njit(fastmath={"contract"}, error_model="numpy")
def _reduced(x: float) -> tuple[float, float]:
    """2**n and exp(r) - 1, where x = n log 2 + r and |r| <= log(2) / 2."""
    shifted = min(max(x, LOWEST), HIGHEST) * LOG2_E + ROUNDER
    n = shifted - ROUNDER
    r = (min(max(x, LOWEST), HIGHEST) - n * LN2_HIGH) - n * LN2_LOW
    p = 1 / 6227020800 * r + 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 0.5
    return double_of((bits_of(shifted) + 1023) << 52), p * r * r + r


@njit(fastmath={"contract"}, error_model="numpy")
def fast_exp(x: float) -> float:
    """exp(x); x is held between -708 and 709."""
    power, rest = _reduced(x)
    return power * rest + power


@njit(fastmath={"contract"}, error_model="numpy")
def fast_expm1(x: float) -> float:
    """exp(x) - 1, exact for small x too."""
    power, rest = _reduced(x)
    return power * rest + (power - 1.0)


@njit(fastmath={"contract"}, error_model="numpy")
def fast_log(x: float) -> float:
    """log(x) for a normal x > 0, by atanh of (m - 1) / (m + 1) with the mantissa m in [sqrt(1/2), sqrt(2))."""
    bits = bits_of(x)
    power = (bits - 0x3FE6A09E667F3BCD) & EXPONENT
    exponent = double_of((power >> 52) + ROUNDER_BITS) - ROUNDER
    m = double_of(bits - power)
    s = (m - 1.0) / (m + 1.0)
    t = s * s
    p = 1 / 19 * t + 1 / 17
    p = p * t + 1 / 15
    p = p * t + 1 / 13
    p = p * t + 1 / 11
    p = p * t + 1 / 9
    p = p * t + 1 / 7
    p = p * t + 1 / 5
    p = p * t + 1 / 3
    value: float = exponent * LN2_HIGH + (2.0 * s + (2.0 * s * t * p + exponent * LN2_LOW))
    return value
