"""Intervals computed by hand: Student, Welch, the floor set by the spread within processes, and pairing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.stats import Interval, RatioInterval, TrialSummary, cell_interval, ratio_interval
from pacenote.stats.intervals import SHARED_MISS
from pacenote.stats.student import t_factor

SHARED_LEVEL = 1 - 0.05 * SHARED_MISS
TIMES = st.lists(st.floats(1e-4, 1.0), min_size=2, max_size=8)


def process(step_s: float | None, number: int = 0, **changes: Any) -> TrialSummary:
    """One process whose every turn lasted as long as its typical step says."""
    fields: dict[str, Any] = {
        "trial_id": f"t{number}",
        "round": number,
        "step_time_s": step_s,
        "step_time_median_s": step_s,
        "step_time_block_s": step_s,
        "samples_per_step": 8,
        "time_per_sample_s": None if step_s is None else step_s / 8,
    }
    return TrialSummary(**{**fields, **changes})


def processes(*steps_s: float, **changes: Any) -> list[TrialSummary]:
    return [process(step_s, number, **changes) for number, step_s in enumerate(steps_s)]


def turns(step_s: float, number: int, *factors: float, **changes: Any) -> TrialSummary:
    """A process with turns of its own, as factors of its step."""
    medians = {at: step_s * factor for at, factor in enumerate(factors, 1)}
    return process(step_s, number, turn_median_s=medians, turn_quartile_s=medians, turn_mean_s=medians, **changes)


def test_three_processes_by_hand() -> None:
    found = cell_interval(processes(1.0, math.e, math.e**2))  # logarithms 0, 1, 2: mean 1, deviation 1
    half = 4.30265 / math.sqrt(3)
    assert found.value == pytest.approx(math.e)
    assert math.log(found.low) == pytest.approx(1 - half, rel=1e-5)
    assert math.log(found.high) == pytest.approx(1 + half, rel=1e-5)
    assert (found.count, found.level, found.reason) == (3, 0.95, "")


def test_the_spread_within_processes_is_a_floor_by_hand() -> None:
    found = cell_interval(processes(2.0, 2.0, 2.0, level_error_share=0.03))
    half = t_factor(6, 0.95) * 0.03 * math.sqrt(3) / 3  # two degrees for each process
    assert found.high == pytest.approx(2.0 * math.exp(half))
    assert found.low == pytest.approx(2.0 * math.exp(-half))


def test_the_larger_of_both_spreads_counts() -> None:
    apart = cell_interval(processes(1.0, 2.0, level_error_share=1e-4))
    assert apart == cell_interval(processes(1.0, 2.0))


@pytest.mark.parametrize("missing", [None, 0.0])
def test_processes_without_a_step_are_not_counted(missing: float | None) -> None:
    found = cell_interval([process(missing, 9), *processes(1.0, 1.1)])
    assert found == cell_interval(processes(1.0, 1.1))
    assert cell_interval([process(missing)]).reason == "no_steps"


def test_the_half_width_is_a_share_of_the_value() -> None:
    assert Interval(value=2.0, low=1.9, high=2.3).half_width_share == pytest.approx(0.1)
    assert Interval(value=2.0, low=1.9).half_width_share is None
    assert Interval(value=None, low=1.0, high=2.0).half_width_share is None


@given(TIMES, st.floats(0.5, 0.9), st.floats(0.01, 0.09))
def test_more_coverage_takes_more_width(steps_s: list[float], level: float, more: float) -> None:
    narrow = cell_interval(processes(*steps_s, level_error_share=0.01), level)
    wide = cell_interval(processes(*steps_s, level_error_share=0.01), level + more)
    assert wide.low < narrow.low <= narrow.value <= narrow.high < wide.high


@given(TIMES, st.floats(0.01, 100))
def test_the_unit_of_time_does_not_matter(steps_s: list[float], factor: float) -> None:
    plain, scaled = cell_interval(processes(*steps_s)), cell_interval(processes(*(one * factor for one in steps_s)))
    assert scaled.value == pytest.approx(plain.value * factor)
    assert scaled.low == pytest.approx(plain.low * factor)
    assert scaled.high == pytest.approx(plain.high * factor)


@pytest.mark.parametrize(
    ("low", "high", "distinct"),
    [(0.9, 1.1, False), (1.0, 1.1, False), (0.9, 1.0, False), (1.001, 1.1, True), (0.8, 0.999, True)],
)
def test_a_difference_is_distinct_when_one_lies_outside(low: float, high: float, distinct: bool) -> None:
    assert RatioInterval(value=1.0, low=low, high=high).distinct == distinct


def test_a_value_without_an_interval_is_never_distinct() -> None:
    assert not RatioInterval(value=3.0).distinct
    assert not RatioInterval(value=3.0, low=2.0).distinct


def test_a_paired_ratio_by_hand() -> None:
    base, other = processes(2.0, 2.2, 2.4), processes(1.0, 1.1, 1.25)
    found = ratio_interval(base, other)
    logs = np.log([2.0, 2.0, 2.4 / 1.25])
    by_rounds = t_factor(2, SHARED_LEVEL) * logs.std(ddof=1) / math.sqrt(3)
    assert found.value == pytest.approx(math.exp(logs.mean()))
    assert found.high / found.value == pytest.approx(math.exp(by_rounds))
    assert (found.count, found.paired, found.turns_paired) == (3, True, False)


def test_unlucky_differences_of_few_rounds_are_held_against_the_processes_of_both_sides() -> None:
    """Rounds differ in opposite directions; the processes of each side agree better than that suggests."""
    base, other = processes(1.00, 1.01), processes(1.01, 1.00)
    found = ratio_interval(base, other)
    variance = float(np.var(np.log([1.00, 1.01]), ddof=1)) / 2
    welch = t_factor(2, SHARED_LEVEL) * math.sqrt(2 * variance)
    rounds = np.log([1.00 / 1.01, 1.01])
    student = t_factor(1, SHARED_LEVEL) * rounds.std(ddof=1) / math.sqrt(2)
    assert welch < student
    assert math.log(found.high / found.value) == pytest.approx(welch)


def test_two_groups_by_hand() -> None:
    base, other = processes(2.0, 2.2, 2.1), processes(1.0, 1.3)
    found = ratio_interval(base, other, paired=False)
    sides = [np.log([2.0, 2.2, 2.1]), np.log([1.0, 1.3])]
    parts = [side.var(ddof=1) / len(side) for side in sides]
    degrees = round(sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 1), 2)
    assert math.log(found.value) == pytest.approx(sides[0].mean() - sides[1].mean())
    assert math.log(found.high / found.value) == pytest.approx(t_factor(degrees, 0.95) * math.sqrt(sum(parts)))
    assert (found.count, found.paired, found.reason) == (2, False, "")


def test_groups_that_agree_by_luck_keep_the_floor_of_both_sides() -> None:
    found = ratio_interval(
        processes(2.0, 2.0, level_error_share=0.03), processes(1.0, 1.0, level_error_share=0.04), paired=False
    )
    halves = [t_factor(4, 0.95) * error * math.sqrt(2) / 2 for error in (0.03, 0.04)]
    assert math.log(found.high / 2.0) == pytest.approx(math.hypot(*halves))


def test_one_process_on_a_side_gives_a_value_and_a_reason() -> None:
    apart = ratio_interval(processes(2.0), [process(1.0, 5), process(1.0, 6)])
    assert (apart.value, apart.low, apart.reason) == (pytest.approx(2.0), None, "one_process")
    together = ratio_interval(processes(2.0), processes(1.0, 1.0))
    assert (together.value, together.low, together.reason, together.count) == (pytest.approx(2.0), None, "one_round", 1)


def test_one_common_round_among_many_processes_is_no_pairing() -> None:
    base = [process(2.0, 0), process(2.1, 1)]
    other = [process(1.0, 1), process(1.1, 2)]
    assert not ratio_interval(base, other).paired
    assert ratio_interval(base, other) == ratio_interval(base, other, paired=False)


def test_turns_are_paired_by_their_number() -> None:
    base = [turns(2.0, 0, 1.0, 1.5, 1.2), turns(2.0, 1, 1.3, 1.0, 1.1)]
    other = [turns(1.0, 0, 1.0, 1.5, 1.2), turns(1.0, 1, 1.3, 1.0, 1.1)]
    found = ratio_interval(base, other)
    assert found.turns_paired
    assert found.value == pytest.approx(2.0)
    assert found.high == pytest.approx(2.0)


def test_fewer_than_three_common_turns_compare_the_processes() -> None:
    base = [turns(2.0, number, 1.0, 1.0) for number in range(2)]
    other = [turns(1.0, number, 1.0, 1.0, 1.0) for number in range(2)]
    assert not ratio_interval(base, other).turns_paired


def test_the_spread_between_the_turns_of_a_round_is_a_floor() -> None:
    base = [turns(2.0, number, 1.0, 1.1, 0.9) for number in range(2)]
    other = [turns(1.0, number, 1.0, 1.0, 1.0) for number in range(2)]
    found = ratio_interval(base, other)
    deviation = 1.4826 * math.log(1.1)  # of the logarithms of 2.0, 2.2 and 1.8 from their median: 0, ln 1.1, -ln 0.9
    error = math.sqrt(math.pi / 2) * deviation / math.sqrt(2)
    assert math.log(found.high / found.value) == pytest.approx(t_factor(4, 0.95) * error * math.sqrt(2) / 2)


def test_replicates_inside_a_round_are_averaged() -> None:
    base = [*(process(step, 0) for step in (1.0, 4.0)), process(2.0, 1)]
    found = ratio_interval(base, processes(1.0, 1.0))
    assert found.value == pytest.approx(2.0)  # the geometric mean of 1 and 4 is 2
    assert not found.turns_paired


def test_samples_per_step_enter_paired_turns_too() -> None:
    base = [turns(1.0, number, 1.0, 1.0, 1.0) for number in range(2)]
    other = [turns(4.0, number, 1.0, 1.0, 1.0, samples_per_step=64, time_per_sample_s=4.0 / 64) for number in range(2)]
    assert ratio_interval(base, other).value == pytest.approx(2.0)


def test_means_of_either_side_are_compared_with_means_of_the_other() -> None:
    base = processes(2.0, 2.0, step_time_block_s=3.0)
    other = processes(1.0, 1.0, estimator="mean")
    found = ratio_interval(base, other)
    assert (found.value, found.estimator) == (pytest.approx(3.0), "mean")
    assert ratio_interval(base, processes(1.0, 1.0)).value == pytest.approx(2.0)


@pytest.mark.parametrize("which", [0, 1])
def test_a_side_without_samples_has_no_ratio(which: int) -> None:
    sides = [processes(1.0, 1.0), processes(2.0, 2.0)]
    sides[which] = [process(None, 0)]
    found = ratio_interval(*sides)
    assert (found.value, found.reason) == (None, "no_steps")


@given(TIMES, TIMES, st.booleans())
def test_the_value_lies_in_its_interval(base_s: list[float], other_s: list[float], paired: bool) -> None:
    found = ratio_interval(processes(*base_s), processes(*other_s), paired=paired)
    assert 0 < found.low <= found.value <= found.high
    assert found.count == min(len(base_s), len(other_s))


@given(TIMES)
def test_a_cell_against_itself_is_one(steps_s: list[float]) -> None:
    found = ratio_interval(processes(*steps_s), processes(*steps_s))
    assert found.value == pytest.approx(1.0)
    assert not found.distinct or found.low == pytest.approx(1.0)


@given(TIMES, st.floats(1.5, 4.0))
def test_what_both_sides_share_cancels(steps_s: list[float], factor: float) -> None:
    found = ratio_interval(processes(*(one * factor for one in steps_s)), processes(*steps_s))
    assert found.low == pytest.approx(factor)
    assert found.high == pytest.approx(factor)


def test_an_interleaved_ratio_compares_lower_quartiles_and_takes_the_median_of_the_turns() -> None:
    """Disturbances only lengthen steps: three turns of five may be hit, on either side, and the ratio stays."""
    quiet = {turn: 1.0 for turn in range(1, 6)}
    loud = {turn: 3.0 for turn in range(1, 6)}
    base = [process(2.0, number, turn_quartile_s={t: 2.0 for t in quiet}, turn_median_s=loud) for number in range(3)]
    hit = {**quiet, 1: 1.7, 4: 1.4}
    other = [process(1.0, number, turn_quartile_s=hit, turn_median_s=loud) for number in range(3)]
    assert ratio_interval(base, other).value == pytest.approx(2.0)
