"""Intervals over fresh processes, for the time of one cell and for the ratio of two.

The model is multiplicative: a process is faster or slower by some per cent, so all is done on logarithms. The
variance between processes is estimated from the processes alone (Student's t); where a few of them happen to
agree by luck, the interval is still at least as wide as the spread within them demands.

Where turns are interleaved, a round's ratio is the median over its turns of the ratio of the lower quartiles of their
steps. What disturbs a step on a shared machine only ever lengthens it, so the quartile repeats better than the median:
on A/A studies of LeNet b32 (12 rounds, 12 turns of 75 ms, two virtual cores) the ratio of a round had a standard
deviation of 2.0 %, against 3.6 to 4.5 % for medians of turns and 5.4 to 6.3 % for medians of whole processes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from pacenote.records import Record
from pacenote.stats.student import t_factor
from pacenote.stats.summary import TrialSummary
from pacenote.stats.trimmed import middle, trimmed

Floats = npt.NDArray[np.float64]

PAIRED_TURNS: Final = 3
"""Common turns from which a round is paired turn by turn; fewer have no spread to speak of."""

SHARED_MISS: Final = 2.0 / 3.0
"""A paired interval is the narrower of two that are each valid: over the rounds' differences (free of drift, few
degrees of freedom) and over the processes of both sides (more degrees; drift can only widen it, because it moves both
sides together). Taking the narrower misses more often, so each is made for 2/3 of the allowed misses. Simulated for 2
to 10 rounds, 1-5 % between processes, 0-5 % drift between rounds, 10 % of processes disturbed: covers in 94.9 % or
more (20,000 draws each; a short form of it is in tests/unit/test_stats_coverage.py)."""


class Interval(Record, frozen=True, kw_only=True):
    """A value with its doubt.

    Attributes:
        value: Best estimate; ``None`` when nothing could be measured.
        low: Lower end; ``None`` when there is no interval.
        high: Upper end.
        level: Coverage the interval is made for.
        count: Processes (for a ratio: rounds) behind it.
        reason: Why there is no interval, as a reason code; empty when there is one.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    count: int = 0
    reason: str = ""

    @property
    def half_width_share(self) -> float | None:
        """Half of the width as a share of the value."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2.0 / self.value


class RatioInterval(Interval, frozen=True, kw_only=True):
    """How many times as fast the other cell is as the base: base time per sample over the other's.

    Attributes:
        paired: Whether the processes were compared within rounds (``count`` is then the number of rounds).
        turns_paired: Whether inside each round turn was compared with turn.
        estimator: ``"median"`` or ``"mean"`` step, the same on both sides.
    """

    paired: bool = False
    turns_paired: bool = False
    estimator: str = "median"

    @property
    def distinct(self) -> bool:
        """Whether the interval leaves out 1, so that a difference is really there."""
        return self.low is not None and self.high is not None and not self.low <= 1.0 <= self.high


def cell_interval(trials: Sequence[TrialSummary], level: float = 0.95) -> Interval:
    """Interval for the typical step time of a cell, over its processes."""
    logs = np.array([math.log(trial.step_time_s) for trial in trials if trial.step_time_s])
    if not len(logs):
        return Interval(value=None, level=level, reason="no_steps")
    value = math.exp(float(logs.mean()))
    if len(logs) < 2:
        return Interval(value=value, level=level, count=len(logs), reason="one_process")
    within = np.array([trial.level_error_share for trial in trials if trial.step_time_s])
    half = max(_student(logs, level), _within_half(within, level))
    return Interval(value=value, low=value * math.exp(-half), high=value * math.exp(half), level=level, count=len(logs))


def ratio_interval(
    base: Sequence[TrialSummary],
    other: Sequence[TrialSummary],
    level: float = 0.95,
    *,
    paired: bool = True,
) -> RatioInterval:
    """Interval for the speed-up of ``other`` over ``base``.

    Args:
        base: Summaries of the cell compared with.
        other: Summaries of the cell asked about.
        level: Coverage.
        paired: Whether equal round numbers mean that the processes ran interleaved; ``False`` for two studies.
    """
    base = [trial for trial in base if trial.time_per_sample_s]
    other = [trial for trial in other if trial.time_per_sample_s]
    if not base or not other:
        return RatioInterval(value=None, level=level, reason="no_steps")
    means = any(trial.estimator == "mean" for trial in (*base, *other))
    common = sorted({trial.round for trial in base} & {trial.round for trial in other}) if paired else []
    if len(common) >= 2 or (common and min(len(base), len(other)) == 1):
        return _paired(base, other, common, means, level)
    return _unpaired(base, other, means, level)


def _paired(
    base: Sequence[TrialSummary], other: Sequence[TrialSummary], rounds: list[int], means: bool, level: float
) -> RatioInterval:
    compared = [
        _round_ratio(
            [trial for trial in base if trial.round == number],
            [trial for trial in other if trial.round == number],
            means,
        )
        for number in rounds
    ]
    logs = np.array([log for log, _, _ in compared])
    within = np.array([error for _, error, _ in compared])
    found = RatioInterval(
        value=math.exp(float(logs.mean())),
        level=level,
        count=len(rounds),
        paired=True,
        turns_paired=all(by_turn for _, _, by_turn in compared),
        estimator="mean" if means else "median",
        reason="one_round",
    )
    if len(rounds) < 2:
        return found
    sides = [
        np.array([_log_level([trial for trial in side if trial.round == number], means) for number in rounds])
        for side in (base, other)
    ]
    stricter = 1.0 - (1.0 - level) * SHARED_MISS
    half = min(_student(logs, stricter), _welch(sides, stricter))
    return _closed(found, max(half, _within_half(within, level)))


def _round_ratio(base: list[TrialSummary], other: list[TrialSummary], means: bool) -> tuple[float, float, bool]:
    """Log ratio of one round, its standard error within the round, and whether turns were paired."""
    if len(base) == 1 and len(other) == 1:
        mine, theirs = (trial.turn_mean_s if means else trial.turn_quartile_s for trial in (base[0], other[0]))
        turns = sorted(mine.keys() & theirs.keys())
        if len(turns) >= PAIRED_TURNS:
            logs = np.array([math.log(mine[turn] / theirs[turn]) for turn in turns])
            value, error = trimmed(logs) if means else middle(logs)
            return value + math.log((other[0].samples_per_step or 1) / (base[0].samples_per_step or 1)), error, True
    value = _log_level(base, means) - _log_level(other, means)
    errors = [trial.level_error_share / len(side) for side in (base, other) for trial in side]
    return value, math.hypot(*errors), False


def _unpaired(base: Sequence[TrialSummary], other: Sequence[TrialSummary], means: bool, level: float) -> RatioInterval:
    """Welch's interval for two independent groups of processes."""
    sides = [np.array([_log_level([trial], means) for trial in side]) for side in (base, other)]
    errors = [np.array([trial.level_error_share for trial in side]) for side in (base, other)]
    found = RatioInterval(
        value=math.exp(float(sides[0].mean() - sides[1].mean())),
        level=level,
        count=min(len(side) for side in sides),
        estimator="mean" if means else "median",
        reason="one_process",
    )
    if found.count < 2:
        return found
    within = math.hypot(*(_within_half(side, level) for side in errors))
    return _closed(found, max(_welch(sides, level), within))


def _closed(found: RatioInterval, half: float) -> RatioInterval:
    assert found.value is not None
    return RatioInterval(
        value=found.value,
        low=found.value * math.exp(-half),
        high=found.value * math.exp(half),
        level=found.level,
        count=found.count,
        paired=found.paired,
        turns_paired=found.turns_paired,
        estimator=found.estimator,
    )


def _student(logs: Floats, level: float) -> float:
    """Student's half-width for the mean of a few values."""
    return t_factor(len(logs) - 1, level) * float(logs.std(ddof=1)) / math.sqrt(len(logs))


def _welch(sides: Sequence[Floats], level: float) -> float:
    """Welch's half-width for the difference of the means of two groups."""
    parts = [float(side.var(ddof=1)) / len(side) for side in sides]
    weights = sum(part**2 / (len(side) - 1) for part, side in zip(parts, sides, strict=True))
    degrees = max(1.0, round(sum(parts) ** 2 / weights, 2)) if weights else 1.0
    return t_factor(degrees, level) * math.sqrt(sum(parts))


def _within_half(errors: Floats, level: float) -> float:
    """Half-width that the spread within processes alone demands of their mean.

    Its degrees of freedom are counted as if each process had the fewest turns that are paired.
    """
    degrees = len(errors) * (PAIRED_TURNS - 1)
    return t_factor(degrees, level) * float(np.sqrt((errors**2).sum())) / len(errors)


def _log_level(trials: Sequence[TrialSummary], means: bool) -> float:
    """Mean log time per sample of processes, by the estimator both sides share."""
    logs = []
    for trial in trials:
        step_s = trial.step_time_block_s if means else trial.step_time_median_s
        logs.append(math.log((step_s or math.nan) / (trial.samples_per_step or 1)))
    return sum(logs) / len(logs)
