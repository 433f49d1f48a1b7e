"""Where the steady state of a series of step times begins: found, not assumed.

The start is the truncation point that minimises the standard error of what is kept (MSER-5: White, "An effective
truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997), over medians of short blocks
so that single spikes do not decide. A head is cut only when it differs from the rest; noise alone cuts nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from pacenote.stats.trimmed import MAD_TO_SIGMA, MEDIAN_ERROR

Floats = npt.NDArray[np.float64]

BLOCK_STEPS: Final = 5
"""Steps per block, as in MSER-5."""

NEAR_LEAST: Final = 1.1
"""Cut no later than needed: the earliest point whose squared standard error is within 10 % of the least."""

HEAD_SHARE: Final = 0.02
"""A head within 2 % of the rest stays: half of all blocks at +2 % moves the median by less than that."""

HEAD_ERRORS: Final = 3.0
"""So does a head within three standard errors of the rest; chance alone exceeds that in 0.3 % of heads."""

TREND_SHARE: Final = 0.15
"""Halves that differ by less than 15 % count as one level. A quiet process drifts by up to 6 % within seconds
(LeNet, batch 32, on a shared virtual machine), a processor leaving its turbo by 10 to 15 %, and interleaving takes out
of a ratio what both of its sides share."""


LIMIT_SHARE: Final = 0.4
"""A start so close to half of the series is as good as at the limit (an even slope is cut at 0.44)."""

LATE_TREND_SHARE: Final = 0.08
"""Trend that counts after a start at the limit: just more than the drift of a quiet process."""


def steady_start(total_s: Floats) -> int:
    """Index of the first steady step; 0 when the series is steady from its first step on."""
    blocks, size = _blocks(total_s)
    if len(blocks) < 4:
        return 0
    cut = _earliest(blocks)
    start = cut * size if cut and _differs(blocks[:cut], blocks[cut:]) else 0
    return start + _rest_of_head(total_s[start:], size)


def still_moving(total_s: Floats) -> bool:
    """Whether a whole series reached no level: what remains from its :func:`steady_start` on still has a trend.

    A start as late as half of the series, the latest there is, suggests that a later one would have been better; then
    a smaller trend is enough.
    """
    start = steady_start(total_s)
    blocks, _ = _blocks(total_s[start:])
    half = len(blocks) // 2
    at_limit = start >= LIMIT_SHARE * len(total_s)
    return half >= 2 and _differs(blocks[:half], blocks[half:], share=LATE_TREND_SHARE if at_limit else TREND_SHARE)


def _blocks(total_s: Floats) -> tuple[Floats, int]:
    """Medians of the logarithms of consecutive blocks, and the block's length."""
    size = min(BLOCK_STEPS, max(1, len(total_s) // 8))
    count = len(total_s) // size
    logs = np.log(np.maximum(total_s[: count * size], 1e-9))  # the clock's resolution is a nanosecond
    return np.median(logs.reshape(count, size), axis=1), size


def _earliest(blocks: Floats) -> int:
    """Earliest cut, at most half of the blocks, whose squared standard error is near the least."""
    errors = np.array([blocks[cut:].var() / (len(blocks) - cut) for cut in range(len(blocks) // 2 + 1)])
    # Equal values have a variance of zero or of a rounding error, which must not decide between two cuts.
    return int(np.argmax(errors <= errors.min() * NEAR_LEAST + np.finfo(np.float64).eps ** 2 * 1e6))


def _rest_of_head(total_s: Floats, size: int) -> int:
    """Steps at the front that stand out one by one: too few to move the median of their block."""
    logs = np.log(np.maximum(total_s, 1e-9))
    count = 0
    while count < size and _differs(logs[count : count + 1], logs[count + 1 :]):
        count += 1
    return count


def median_error(logs: Floats) -> float:
    """Standard error of the median of some logarithms, robust against spikes."""
    spread = MAD_TO_SIGMA * float(np.median(np.abs(logs - np.median(logs))))
    return MEDIAN_ERROR * spread / float(np.sqrt(len(logs)))


def _differs(head: Floats, rest: Floats, share: float = HEAD_SHARE) -> bool:
    """Whether two parts have different levels, by more than ``share`` and by more than chance."""
    gap = abs(float(np.median(head) - np.median(rest)))
    spread = float(MAD_TO_SIGMA * np.median(np.abs(rest - np.median(rest))))
    return bool(gap > max(np.log1p(share), HEAD_ERRORS * spread * np.sqrt(1 / len(head) + 1 / len(rest))))
