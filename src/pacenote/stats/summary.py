"""The summary of one trial: what its measured steps say, computed on read from the raw log.

Measured steps are those of turns 1 and up (turn 0 warms up), after the steady start, without evaluation, without the
cold steps at the front of each turn, and without those whose batch was read ahead while the child was paused. Two
estimators of the typical step exist, because one does not fit all:

``median``  the median step; used where each step does its own work (CPU, no loader workers).
``mean``    the median over turns (or blocks of one long turn) of the mean step; used where work of one step is paid
            in another: loader workers deliver in bursts, and a device runs behind the host until it is waited for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from pacenote.records import Record, TrialRecord, Turn
from pacenote.segment import PHASES, Segments, segment
from pacenote.stats.bimodal import Bimodality, split_in_two
from pacenote.stats.steady import median_error, steady_start, still_moving
from pacenote.stats.trimmed import trimmed
from pacenote.stats.turns import FEWEST_TURNS, turns_drift, turns_moving, turns_start

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

STATISTICS_VERSION: Final = 5
"""Version of everything in this package; cached summaries of another version are computed anew.
History: 2 = the batch that a reading thread finishes during a pause is left out too; 3 = lower quartile of turns;
4 = whether a trial is steady is judged by the levels of its turns; 5 = the cold steps at the front of a turn are
left out, not only the first."""

FEWEST_STEPS: Final = 5
"""Below this many measured steps a trial has shown no steady state: the least for which a median ignores two."""

DROP_LEAVES: Final = 3
"""Steps that must be left in a turn when its front is dropped; in shorter turns the step is so long that what a pause
changes does not show, and dropping would leave nothing."""

COLD_STEPS: Final = 3
"""Steps after a pause that run on cold caches. LeNet b32 on two virtual cores, 240 turns of 75 ms, two processes in
turn: median step 11.0, 11.8, 9.4, 9.1, 9.0, 9.0, 8.9 ms by its place in the turn. A slower cell has fewer steps in a
turn, so with only the first left out it looked slower than it is (1.50 read as 1.52). They are left out of turns that
keep enough for a median."""

BLOCKS: Final = 8
"""Blocks into which one long turn is cut."""


class TrialSummary(Record, frozen=True, kw_only=True):
    """What one process measured; times are per step unless they say otherwise.

    Attributes:
        turn_quartile_s: Lower quartile of each turn's steps: what interleaved ratios compare (see
            :mod:`pacenote.stats.intervals`).
        estimator: ``"median"`` or ``"mean"``: which of the two ``step_time_s`` is.
        steady: Whether a steady state was found; if not, ``reason`` says why not.
        step_time_s: The typical step.
        step_time_block_s: Median over turns (or blocks) of the mean step.
        step_time_mean_s: Plain mean of the measured steps: what ``phase_s`` sums to.
        spread_share: Standard deviation of the measured steps over their mean.
        level_error_share: Standard error of the logarithm of the typical step within this process.
        drift_share: How much slower the last third is than the first; negative: faster.
        drift_error_share: Standard error of it.
        cpu_share: CPU seconds of the child over seconds of the turns (2.0: two cores busy).
        minor_faults_per_step: Page faults served without a disk, per step of the measured turns.
    """

    trial_id: str
    round: int
    anchor: str = "none"
    estimator: str = "median"
    steps: int = 0
    dropped_steps: int = 0
    evaluation_steps: int = 0
    steady: bool = False
    reason: str = ""
    first_step_s: float | None = None
    step_time_s: float | None = None
    step_time_median_s: float | None = None
    step_time_block_s: float | None = None
    step_time_mean_s: float | None = None
    step_time_p10_s: float | None = None
    step_time_p90_s: float | None = None
    spread_share: float | None = None
    level_error_share: float = 0.0
    drift_share: float | None = None
    drift_error_share: float | None = None
    phase_s: dict[str, float] = {}
    loss_s: float | None = None
    samples_per_step: int | None = None
    time_per_sample_s: float | None = None
    samples_per_s: float | None = None
    turn_median_s: dict[int, float] = {}
    turn_quartile_s: dict[int, float] = {}
    turn_mean_s: dict[int, float] = {}
    bimodality: Bimodality | None = None
    cpu_share: float | None = None
    minor_faults_per_step: float | None = None


@dataclass(frozen=True)
class _Measured:
    """The steps that count: their mask, and which estimator suits them."""

    mask: Bools
    estimator: str
    whole_turns: bool
    moving: bool


def summarize(record: TrialRecord) -> TrialSummary:
    """Summarise one trial; a trial without steps gives a summary that says so."""
    found = segment(record.events)
    measured = _measured(record, found)
    count = int(measured.mask.sum())
    base = TrialSummary(
        trial_id=record.id,
        round=record.round,
        anchor=found.anchor,
        estimator=measured.estimator,
        steps=count,
        dropped_steps=len(found) - count,
        evaluation_steps=int(found.evaluation.sum()),
        first_step_s=float(found.total_s[0]) if len(found) else None,
        samples_per_step=record.samples_per_step,
        cpu_share=_cpu_share(record),
        minor_faults_per_step=_minor_faults_per_step(record),
        reason="" if count else "no_steps",
    )
    return _filled(base, found, measured) if count else base


def _measured(record: TrialRecord, found: Segments) -> _Measured:
    workers = int(record.spec.levers.get("loader_workers") or 0)
    behind = record.spec.device != "cpu"
    later = found.turn >= 1
    warm = later if later.any() else np.ones(len(found), dtype=np.bool_)
    usable = ~found.evaluation & ~found.depth
    usable &= _place_in_turn(found) >= _dropped_per_turn(record, found, warm, workers)
    if workers:
        usable &= warm  # the queue that fills before the first turn says nothing about later ones
    mask, moving = _steady(found, usable, warm)
    if behind and later.any():
        mask = later  # whole turns: from one synchronisation to the next
    return _Measured(mask, "mean" if workers or behind else "median", bool(behind and later.any()), moving)


def _steady(found: Segments, usable: Bools, warm: Bools) -> tuple[Bools, bool]:
    """The steps of the steady state, and whether there is none: by turns where there are enough, else by steps."""
    kept = usable & warm
    numbers, level_s = _turn_medians(found, kept)
    if len(numbers) < FEWEST_TURNS:
        start = steady_start(found.total_s[usable])
        return kept & (np.cumsum(usable) > start), still_moving(found.total_s[usable])
    start = turns_start(level_s)
    return kept & (found.turn >= numbers[start]), turns_moving(level_s)


def _turn_medians(found: Segments, mask: Bools) -> tuple[npt.NDArray[np.int64], Floats]:
    """Numbers of the turns that have steps left, and the median step of each."""
    numbers = np.unique(found.turn[mask])
    return numbers, np.array([np.median(found.total_s[mask & (found.turn == number)]) for number in numbers])


def _dropped_per_turn(record: TrialRecord, found: Segments, warm: Bools, workers: int) -> int:
    """Steps at the front of each turn that are no fair sample.

    The first ones pay for the pause (:data:`COLD_STEPS`). A loader that works ahead (workers, Paddle's reader thread)
    fills its queue while the child is paused, so as many steps as it holds ready get their batch for nothing, and so
    does one more for each worker (or for the thread), which finished the batch it had in hand.
    """
    per_turn = np.bincount(found.turn[warm]) if len(found) else np.zeros(1, dtype=np.int64)
    steps = float(np.median(per_turn[per_turn > 0])) if per_turn.any() else 0.0
    loaders = [one.get("prefetched_batches") for one in record.events.objects if one.get("kind") == "loader"]
    ahead = max((int(count) for count in loaders if count is not None), default=2 * workers)  # two each, if not told
    cold = COLD_STEPS if steps >= COLD_STEPS + FEWEST_STEPS else 1
    for dropped in (max(cold, ahead + max(1, workers)), cold):
        if steps >= dropped + DROP_LEAVES:
            return dropped
    return 0


def _place_in_turn(found: Segments) -> npt.NDArray[np.int64]:
    """Number of each step inside its turn, from 0."""
    starts = np.flatnonzero(found.first_of_turn)
    return np.arange(len(found)) - np.repeat(starts, np.diff(np.append(starts, len(found))))


def _filled(base: TrialSummary, found: Segments, measured: _Measured) -> TrialSummary:
    total_s = found.total_s[measured.mask]
    levels = _levels(found, measured)
    block_s = float(np.median(levels.block_s))
    median_s = None if measured.whole_turns else float(np.median(total_s))
    step_s = block_s if base.estimator == "mean" or median_s is None else median_s
    phases = {name: float(found.phases[name][measured.mask].mean()) for name in PHASES}
    phases["other"] += levels.wait_s
    steady = base.steps >= FEWEST_STEPS and not measured.moving
    samples = base.samples_per_step
    return msgspec.structs.replace(
        base,
        steady=steady,
        reason="" if steady else "still_moving" if measured.moving else "few_steps",
        step_time_s=step_s,
        step_time_median_s=median_s,
        step_time_block_s=block_s,
        step_time_mean_s=sum(phases.values()),
        phase_s=phases,
        loss_s=float(found.loss_s[measured.mask].mean()),
        time_per_sample_s=step_s / samples if samples else None,
        samples_per_s=samples / step_s if samples else None,
        turn_median_s=levels.turn_median_s,
        turn_quartile_s=levels.turn_quartile_s,
        turn_mean_s=levels.turn_mean_s,
        level_error_share=trimmed(np.log(levels.block_s if base.estimator == "mean" else levels.median_s))[1],
        **_spread(levels.turn_means() if measured.whole_turns else total_s, levels),
    )


def _spread(total_s: Floats, levels: _Levels) -> dict[str, Any]:
    turns = len(levels.turn_median_s)
    return {
        "step_time_p10_s": float(np.quantile(total_s, 0.1)),
        "step_time_p90_s": float(np.quantile(total_s, 0.9)),
        "spread_share": float(total_s.std() / total_s.mean()),
        **(turns_drift(levels.median_s) if turns >= FEWEST_TURNS else _drift(total_s)),
        "bimodality": split_in_two(total_s),
    }


@dataclass(frozen=True)
class _Levels:
    """Level of each turn, and of each block: the turns again when there are at least three, else equal pieces."""

    turn_median_s: dict[int, float]
    turn_quartile_s: dict[int, float]
    turn_mean_s: dict[int, float]
    median_s: Floats
    block_s: Floats
    wait_s: float  # per step, for the device to catch up at the end of the turn

    def turn_means(self) -> Floats:
        return np.array(list(self.turn_mean_s.values()))


def _levels(found: Segments, measured: _Measured) -> _Levels:
    total_s, turn = found.total_s[measured.mask], found.turn[measured.mask]
    numbers = np.unique(turn).tolist()
    if measured.whole_turns:
        steps = np.array([float(found.turns.steps[number]) for number in numbers])
        spans_s = np.array([float(found.turns.span_s[number]) for number in numbers])
        wait_s = float((spans_s.sum() - total_s.sum()) / steps.sum())
        means = dict(zip(numbers, (spans_s / steps).tolist(), strict=True))
        return _Levels({}, {}, means, spans_s / steps, spans_s / steps, wait_s)
    medians = {number: float(np.median(total_s[turn == number])) for number in numbers}
    quartiles = {number: float(np.quantile(total_s[turn == number], 0.25)) for number in numbers}
    means = {number: float(total_s[turn == number].mean()) for number in numbers}
    pieces = [total_s[turn == number] for number in numbers]
    if len(pieces) < 3:
        pieces = [piece for piece in np.array_split(total_s, BLOCKS) if len(piece)]
    return _Levels(
        medians,
        quartiles,
        means,
        np.array([np.median(piece) for piece in pieces]),
        np.array([piece.mean() for piece in pieces]),
        0.0,
    )


def _drift(total_s: Floats) -> dict[str, float]:
    """How much the median of the last third exceeds that of the first; unknown for fewer than nine values."""
    third = len(total_s) // 3
    if third < 3:
        return {}
    first, last = np.log(total_s[:third]), np.log(total_s[-third:])
    moved = float(np.median(last) - np.median(first))
    return {
        "drift_share": float(np.expm1(moved)),
        "drift_error_share": float(np.hypot(median_error(first), median_error(last))),
    }


def _later_turns(record: TrialRecord) -> list[Turn]:
    return [turn for turn in record.turns if turn.turn >= 1] or record.turns


def _cpu_share(record: TrialRecord) -> float | None:
    wall_s = sum(turn.counters.wall_s for turn in _later_turns(record))
    return sum(turn.counters.child_cpu_s for turn in _later_turns(record)) / wall_s if wall_s > 0 else None


def _minor_faults_per_step(record: TrialRecord) -> float | None:
    turns = [turn for turn in _later_turns(record) if turn.counters.minor_faults is not None]
    steps = sum(turn.steps for turn in turns)
    return sum(turn.counters.minor_faults or 0 for turn in turns) / steps if steps else None
