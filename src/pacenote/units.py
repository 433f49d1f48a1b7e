"""Units: one per quantity inside the program, conversion only where people read.

The unit of a quantity is the suffix of its name: ``step_time_s``, ``peak_memory_bytes``, ``power_w``.
"""

from __future__ import annotations

import math
from typing import Final

SUFFIX_UNITS: Final[dict[str, str]] = {
    "_s": "s",
    "_ns": "ns",
    "_bytes": "B",
    "_w": "W",
    "_j": "J",
    "_hz": "Hz",
    "_c": "°C",
    "_flops": "FLOP/s",
    "_flop": "FLOP",
    "_bytes_per_s": "B/s",
    "_samples_per_s": "samples/s",
    "_share": "1",
    "_ratio": "1",
    "_count": "1",
}
"""Suffix of a field name → the unit its value is in."""

_SECONDS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES: Final = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_DECIMAL: Final = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def significant(value: float, digits: int = 3) -> str:
    """Write ``value`` with ``digits`` significant digits and no exponent below 1e15."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    rounded = float(f"{value:.{digits - 1}e}")  # first, for 9.996 is written as 10.0
    places = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(0, places)}f}"


def _rounded(value: float) -> float:
    """Its size as it will be written: 999.96 ms is written as a second."""
    return abs(float(f"{value:.2e}"))


def seconds(value_s: float) -> str:
    """Write a duration: ``4.35 ms``, ``13.3 s``, ``2 min 05 s``, ``3 h 10 min``."""
    if not math.isfinite(value_s):
        return f"{value_s} s"
    if value_s >= 3600:
        return f"{int(value_s // 3600)} h {int(value_s % 3600 // 60):02d} min"
    if value_s >= 120:
        return f"{int(value_s // 60)} min {int(value_s % 60):02d} s"
    for scale, unit in _SECONDS:
        if _rounded(value_s) >= scale:
            return f"{significant(value_s / scale)} {unit}"
    return "0 s" if value_s == 0 else f"{significant(value_s / 1e-9)} ns"


def size(value_bytes: float) -> str:
    """Write an amount of memory in binary units: ``1.12 GiB``."""
    for scale, unit in _BYTES:
        if abs(value_bytes) >= scale:
            return f"{significant(value_bytes / scale)} {unit}"
    return f"{significant(value_bytes)} B"


def decimal(value: float, unit: str) -> str:
    """Write a rate or amount with a decimal prefix: ``46.1 GFLOP/s``, ``3.77 ksamples/s``."""
    for scale, prefix in _DECIMAL:
        if _rounded(value) >= scale:
            return f"{significant(value / scale)} {prefix}{unit}"
    return f"{significant(value)} {unit}"


def percent(share: float) -> str:
    """Write a share of one as a percentage: ``12.3 %``."""
    return f"{100 * share:.1f} %"
