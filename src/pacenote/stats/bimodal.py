"""Whether step times fall into two groups."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pacenote.records import Record


class Bimodality(Record, frozen=True, kw_only=True):
    """The best split of step times into a fast and a slow group.

    Attributes:
        low_s: Median of the fast group.
        high_s: Median of the slow group.
        share_high: Share of steps in the slow group.
        explained_share: Share of the variance (of logarithms) that the split explains: 0.64 for one normal group,
            0.75 for a uniform spread, towards 1 for two groups well apart.
    """

    low_s: float
    high_s: float
    share_high: float
    explained_share: float


def split_in_two(total_s: npt.NDArray[np.float64]) -> Bimodality | None:
    """Split where the variance within the two groups is least (Otsu 1979); ``None`` for too few or equal values."""
    ordered = np.sort(total_s)
    logs = np.log(np.maximum(ordered, 1e-9))
    count = len(logs)
    if count < 8 or (total := float(logs.var()) * count) <= 1e-12:
        return None
    sizes = np.arange(1, count)
    sums = np.cumsum(logs)[:-1]
    between = (sums - sizes * logs.mean()) ** 2 * count / (sizes * (count - sizes))
    cut = int(np.argmax(between)) + 1
    return Bimodality(
        low_s=float(np.median(ordered[:cut])),
        high_s=float(np.median(ordered[cut:])),
        share_high=(count - cut) / count,
        explained_share=float(between.max()) / total,
    )
