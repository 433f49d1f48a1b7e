"""Numbers as people read them: one scale for a table column, a unit beside each figure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import Final, NamedTuple

from pacenote import units

_TIME: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BINARY: Final = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_SMALL: Final = ((1e-3, "m"), (1e-6, "µ"))
_PREFIX: Final = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


class Scale(NamedTuple):
    """How a set of values is shown: divided by ``factor``, followed by ``suffix``."""

    factor: float
    suffix: str


_FIXED: Final[dict[str, Scale]] = {
    "share": Scale(0.01, "%"),
    "ratio": Scale(1.0, "×"),
    "count": Scale(1.0, ""),
    "cpus": Scale(1.0, ""),
    "level": Scale(0.01, "%"),
    "excess": Scale(0.01, "%"),  # a ratio, shown as what it is above 1
    "plain": Scale(1.0, ""),
    "money": Scale(1.0, ""),
    "c": Scale(1.0, "°C"),
    "samples_per_s": Scale(1.0, "samples/s"),
}
_SCALED: Final[dict[str, tuple[tuple[tuple[float, str], ...], str]]] = {
    "s": (_TIME, ""),
    "bytes": (_BINARY, ""),
    "flops": (_PREFIX, "FLOP/s"),
    "flop": (_PREFIX, "FLOP"),
    "bytes_per_s": (_PREFIX, "B/s"),
    "hz": (_PREFIX, "Hz"),
    "w": (((1.0, ""),), "W"),
    "j": ((*_PREFIX, *_SMALL), "J"),  # a sample takes millijoules
}
UNITS: Final = frozenset(_FIXED) | frozenset(_SCALED) | {"text"}
"""Every unit that a column or chart may name."""


def scale_for(unit: str, values: Iterable[float | None]) -> Scale:
    """Choose one scale for all ``values``: the one that suits their median, so no figure grows a row of zeros."""
    if unit in _FIXED:
        return _FIXED[unit]
    steps, suffix = _SCALED[unit]
    known = [abs(value) for value in values if value]
    if not known:  # nothing but zeros
        plain = next(prefix for factor, prefix in steps if factor == 1.0)
        return Scale(1.0, plain + suffix)
    typical = statistics.median(known)
    for factor, prefix in steps:
        if float(f"{typical / factor:.2e}") >= 1.0:  # as it will be written: 999.96 ms is a second
            return Scale(factor, prefix + suffix)
    return Scale(steps[-1][0], steps[-1][1] + suffix)


def number(value: float, unit: str, scale: Scale) -> str:
    """Write ``value`` on ``scale`` without its suffix, with a true minus sign."""
    shown = (value - 1.0 if unit == "excess" else value) / scale.factor
    return _digits(shown, unit).replace("-", "\N{MINUS SIGN}")


def _digits(shown: float, unit: str) -> str:
    if unit == "count" or (unit in ("plain", "cpus") and shown.is_integer()):
        return f"{round(shown):,}"
    if unit in ("cpus", "level"):
        return units.significant(shown, 2)
    if unit in ("share", "excess"):
        return f"{shown:.1f}"
    if unit == "ratio":
        return f"{shown:.2f}" if abs(shown) < 100 else units.significant(shown)
    if unit == "money" and abs(shown) >= 1:
        return f"{shown:,.2f}"
    if abs(shown) >= (100 if unit == "samples_per_s" else 1000):
        return f"{shown:,.0f}"  # a column's median chose the unit; a far larger value keeps its whole digits
    return units.significant(float(f"{shown:.2e}"))  # rounded first: 0.99996 is 1.00, not 1.000


def joined(text: str, suffix: str) -> str:
    """Put a unit behind a figure: a space, except before ``×``."""
    if not suffix:
        return text
    return text + suffix if suffix == "×" else f"{text} {suffix}"


def figure(value: float, unit: str) -> str:
    """Write one value on its own scale with its unit, for sentences."""
    if not math.isfinite(value):
        return str(value)
    if unit == "s":
        return units.seconds(value)
    scale = scale_for(unit, [value])
    return joined(number(value, unit, scale), scale.suffix)


class Span(NamedTuple):
    """Values of one kind, from the smallest to the largest."""

    low: float
    high: float


def span(values: Span, unit: str) -> str:
    """Write both ends with one unit; ends that read the same are one figure."""
    ends = [figure(value, unit) for value in values]
    if ends[0] == ends[1]:
        return ends[0]
    if not all(math.isfinite(value) for value in values):
        return " – ".join(ends)
    scale = scale_for(unit, [values.high])
    shown = [number(value, unit, scale) for value in values]
    return joined(" – ".join(shown), scale.suffix)


def unit_of(name: str) -> str:
    """Guess the unit of a parameter from its name's suffix, as :mod:`pacenote.units` sets it."""
    for suffix, unit in _SUFFIXES:
        if name.endswith(suffix):
            return unit
    return "plain"


_SUFFIXES: Final = (
    ("samples_per_s", "samples_per_s"),
    ("bytes_per_s", "bytes_per_s"),
    ("_s", "s"),
    ("_bytes", "bytes"),
    ("_share", "share"),
    ("_ratio", "ratio"),
    ("speedup", "ratio"),
    ("_flops", "flops"),
    ("_flop", "flop"),
    ("_hz", "hz"),
    ("_w", "w"),
    ("_j", "j"),
    ("_c", "c"),
    ("_count", "count"),
    ("_cpus", "cpus"),
    ("level", "level"),
    ("steps", "count"),
    ("items", "count"),
    ("rounds", "count"),
    ("count", "count"),
)
