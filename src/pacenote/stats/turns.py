"""The steady state of a trial that ran in turns: judged by the level of each turn, not step by step.

After each rest the threads of a process are placed anew, and its step may then last up to a third longer or shorter
until the next rest (LeNet, batch 32, two threads on two quiet cores: turns at 8.0 and at 11.3 ms in one process, in no
order). The steps of a turn therefore share their luck, and a test that takes them for independent sees a trend in
chance. What counts is how much the turns differ among each other.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pacenote.stats.steady import HEAD_SHARE, LATE_TREND_SHARE, LIMIT_SHARE, NEAR_LEAST, TREND_SHARE
from pacenote.stats.trimmed import MEDIAN_ERROR

Floats = npt.NDArray[np.float64]

FEWEST_TURNS: Final = 6
"""With fewer turns the spread between them is not known."""

HEAD_SPREADS: Final = 3.0
"""A start differs from the rest when it lies three standard deviations of the more scattered part away."""

TREND_SPREADS: Final = 2.5
"""Two halves differ when their medians lie so many standard deviations apart. An even slope over 6 to 12 turns gives
3.0 to 3.2; of two halves of six turns in random order one pair in about 700 exceeds it."""


ORDER_ERRORS: Final = 3.3
"""Standard errors of tau; chance alone exceeds that once in a thousand."""

_ROUNDING: Final = 1e-24
"""Equal levels have a variance of zero or of a rounding error, which must not decide between two cuts."""


def turns_start(level_s: Floats) -> int:
    """Number of turns at the front that do not belong to the steady state; at most half of them.

    Of the cuts that part two levels, the earliest whose rest has near the least squared standard error, as in
    :mod:`pacenote.stats.steady`.
    """
    logs = _logs(level_s)
    if len(logs) < FEWEST_TURNS:
        return 0
    cuts = [cut for cut in range(1, len(logs) // 2 + 1) if _apart(logs[:cut], logs[cut:], HEAD_SHARE, HEAD_SPREADS)]
    errors = {cut: float(logs[cut:].var()) / (len(logs) - cut) for cut in cuts}
    least = min(errors.values(), default=0.0)
    return next((cut for cut in cuts if errors[cut] <= NEAR_LEAST * least + _ROUNDING), 0)


def turns_moving(level_s: Floats) -> bool:
    """Whether the turns reached no level.

    Either they rise or fall one after another, or what remains from :func:`turns_start` on still has a trend.
    """
    logs, start = _logs(level_s), turns_start(level_s)
    if len(logs) < FEWEST_TURNS:
        return False
    third = len(logs) // 3
    moved = abs(float(np.median(logs[-third:]) - np.median(logs[:third])))
    if moved > np.log1p(TREND_SHARE) and _one_way(logs):
        return True
    rest = logs[start:]
    half = len(rest) // 2
    share = LATE_TREND_SHARE if start >= LIMIT_SHARE * len(logs) else TREND_SHARE
    return half >= FEWEST_TURNS // 2 and _apart(rest[:half], rest[-half:], share, TREND_SPREADS)


def _one_way(logs: Floats) -> bool:
    """Whether the values rise (or fall) in an order that chance gives once in a thousand (Kendall's tau).

    The variance of tau under chance is 2 (2n + 5) / (9n (n - 1)): Kendall, Rank Correlation Methods, 1948. Six or seven
    values in perfect order, which chance gives once in 360, must do.
    """
    count = len(logs)
    signs = np.sign(logs[None, :] - logs[:, None])[np.triu_indices(count, 1)]
    expected = np.sqrt(2.0 * (2 * count + 5) / (9.0 * count * (count - 1)))
    return bool(abs(float(signs.mean())) > min(ORDER_ERRORS * float(expected), 0.99))


def turns_drift(level_s: Floats) -> dict[str, Any]:
    """How much the median of the last third of the turns exceeds that of the first, and its standard error.

    The spread is taken from the differences of neighbouring turns, which a slow drift hardly enters.
    """
    logs = _logs(level_s)
    third = len(logs) // 3
    moved = float(np.median(logs[-third:]) - np.median(logs[:third]))
    spread = float(np.sqrt(np.mean(np.diff(logs) ** 2) / 2.0))
    return {
        "drift_share": float(np.expm1(moved)),
        "drift_error_share": MEDIAN_ERROR * spread * float(np.sqrt(2.0 / third)),
    }


def _apart(first: Floats, last: Floats, share: float, spreads: float) -> bool:
    gap = abs(float(np.median(first) - np.median(last)))
    spread = max(float(part.std(ddof=1)) if len(part) > 1 else 0.0 for part in (first, last))
    return gap > max(float(np.log1p(share)), spreads * spread)


def _logs(level_s: Floats) -> Floats:
    return np.log(np.maximum(level_s, 1e-9))  # the clock's resolution is a nanosecond
