"""The trimmed mean and the median, for a few turns of which some may have been disturbed."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

TRIM_SHARE: Final = 0.2
"""Share left out at each end: 20 %, as in Yuen, Biometrika 61(1), 1974."""


def trimmed(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Trimmed mean and its standard error from the winsorised variance (Yuen 1974); error 0 for one value."""
    ordered = np.sort(values)
    count, cut = len(ordered), int(TRIM_SHARE * len(ordered))
    kept = ordered[cut : count - cut]
    if len(kept) < 2:
        return float(kept.mean()), 0.0
    winsorised = np.clip(ordered, kept[0], kept[-1])
    error = float(winsorised.std(ddof=1)) * math.sqrt((count - 1) / (len(kept) * (len(kept) - 1)))
    return float(kept.mean()), error


MEDIAN_ERROR: Final = math.sqrt(math.pi / 2)
"""Standard error of a median over that of a mean, for a normal distribution."""

MAD_TO_SIGMA: Final = 1.4826
"""Median absolute deviation to standard deviation, for a normal distribution."""


def middle(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Median and its standard error from the median absolute deviation; error 0 for one value."""
    centre = float(np.median(values))
    if len(values) < 2:
        return centre, 0.0
    sigma = MAD_TO_SIGMA * float(np.median(np.abs(values - centre)))
    return centre, MEDIAN_ERROR * sigma / math.sqrt(len(values) - 1)
