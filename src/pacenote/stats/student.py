"""Quantiles of Student's t distribution, without a scientific library."""

from __future__ import annotations

import math
from functools import lru_cache

_TINY = 1e-300
_TOLERANCE = 1e-14


@lru_cache(maxsize=256)
def t_factor(degrees: float, level: float) -> float:
    """Half-width, in standard errors, of a two-sided interval with coverage ``level``.

    Args:
        degrees: Degrees of freedom, at least 1; need not be whole (Welch).
        level: Coverage between 0 and 1, for example 0.95.
    """
    low, high = 0.0, 1.0
    while _coverage(high, degrees) < level:
        high *= 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        if _coverage(middle, degrees) < level:
            low = middle
        else:
            high = middle
        if high - low <= 1e-12 * high:
            break
    return (low + high) / 2.0


def _coverage(t: float, degrees: float) -> float:
    """Probability that ``|T| <= t``."""
    x = degrees / (degrees + t * t)
    return 1.0 - _incomplete_beta(degrees / 2.0, 0.5, x)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta function, by its continued fraction (DLMF 8.17.22)."""
    if x <= 0.0 or x >= 1.0:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1.0) / (a + b + 2.0):  # the fraction converges fast only on this side
        return 1.0 - _incomplete_beta(b, a, 1.0 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    return front * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction by the modified method of Lentz."""
    value = c = 1.0
    d = 0.0
    for j in range(1, 500):
        m = j // 2
        if j % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / ((1.0 + term * d) or _TINY)
        c = (1.0 + term / c) or _TINY
        value *= c * d
        if abs(1.0 - c * d) < _TOLERANCE:
            break
    return 1.0 / value
