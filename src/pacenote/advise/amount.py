"""A quantity with its doubt, and the few sums that bills are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from pacenote.records import Record


class Amount(Record, frozen=True, kw_only=True):
    """A value from 0 up with the ends of its interval; the unit is in the name of the field that holds it.

    Attributes:
        low: Lower end.
        value: The estimate.
        high: Upper end.
    """

    low: float
    value: float
    high: float

    def __add__(self, other: Amount) -> Amount:
        return Amount(low=self.low + other.low, value=self.value + other.value, high=self.high + other.high)

    def __mul__(self, other: Amount) -> Amount:
        return Amount(low=self.low * other.low, value=self.value * other.value, high=self.high * other.high)

    def times(self, factor: float) -> Amount:
        """This, ``factor`` times; ``factor`` must not be negative."""
        return Amount(low=self.low * factor, value=self.value * factor, high=self.high * factor)

    def each(self, function: Callable[[float], float]) -> Amount:
        """Each of the three through a function that never falls, so that low stays low."""
        return Amount(low=function(self.low), value=function(self.value), high=function(self.high))

    @property
    def ordered(self) -> bool:
        """Whether it is an interval at all: finite, not negative, in order."""
        return 0 <= self.low <= self.value <= self.high and math.isfinite(self.high)

    @property
    def spread_share(self) -> float:
        """Width of the interval over the value; 0 for an exact one."""
        return (self.high - self.low) / self.value if self.value else 0.0


def exact(value: float) -> Amount:
    """A value that is known."""
    return Amount(low=value, value=value, high=value)


def between(low: float, value: float, high: float) -> Amount:
    """A value and its interval."""
    return Amount(low=low, value=value, high=high)


def around(value: float, error_share: float) -> Amount:
    """A value that may be off by a share of itself either way."""
    return Amount(low=value * max(0.0, 1 - error_share), value=value, high=value * (1 + error_share))


def total(amounts: Iterable[Amount]) -> Amount:
    """Sum; the ends add up as if all were off the same way, which is the honest sum of unknown dependence."""
    whole = exact(0.0)
    for amount in amounts:
        whole += amount
    return whole


def inverse(numerator: float, rate: Amount) -> Amount:
    """``numerator`` over a rate: a low rate is a high result."""
    return Amount(low=numerator / rate.high, value=numerator / rate.value, high=numerator / rate.low)


def largest(first: Amount, second: Amount) -> Amount:
    """End by end the larger of two: the time of a step that waits for the slower of both."""
    return Amount(
        low=max(first.low, second.low), value=max(first.value, second.value), high=max(first.high, second.high)
    )
