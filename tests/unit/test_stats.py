"""Steady state, summaries and intervals on series whose truth is known."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from fake_trials import Script, trial
from hypothesis import given
from hypothesis import strategies as st

from pacenote.records import Counters, EventLog, TrialRecord, TrialSpec, Turn
from pacenote.segment import PHASES
from pacenote.stats import STATISTICS_VERSION, TrialSummary, cell_interval, ratio_interval, steady_start, summarize
from pacenote.stats.bimodal import split_in_two
from pacenote.stats.student import t_factor
from pacenote.stats.trimmed import trimmed


def noisy(count: int, seed: int = 0, level_s: float = 5e-3, spread: float = 0.05) -> np.ndarray:
    return level_s * np.exp(np.random.default_rng(seed).normal(0.0, spread, count))


@pytest.mark.parametrize(
    ("degrees", "level", "expected"),
    [
        (1, 0.95, 12.7062),
        (2, 0.95, 4.30265),
        (5, 0.95, 2.57058),
        (9, 0.99, 3.24984),
        (30, 0.90, 1.69726),
        (200, 0.95, 1.97190),
    ],
)
def test_student_factors_are_those_of_the_tables(degrees: int, level: float, expected: float) -> None:
    assert t_factor(degrees, level) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("cold", [1, 7, 40])
def test_a_slow_start_is_cut(cold: int) -> None:
    series = np.concatenate([noisy(cold, 1, 12e-3), noisy(300, 2)])
    assert cold <= steady_start(series) <= cold + 25


def test_a_fast_start_is_cut_too() -> None:
    series = np.concatenate([noisy(30, 1, 3e-3), noisy(300, 2)])
    assert 30 <= steady_start(series) <= 60


def test_a_fading_start_is_cut_before_it_matters() -> None:
    fade = 1.0 + 1.5 * np.exp(-np.arange(400) / 20.0)
    start = steady_start(noisy(400) * fade)
    assert 25 <= start <= 200
    assert fade[start] < 1.45


def test_noise_alone_is_cut_rarely_and_spikes_never() -> None:
    cut = [steady_start(noisy(300, seed)) for seed in range(100)]
    assert sum(start > 0 for start in cut) <= 5
    series = noisy(300)
    series[[3, 60, 61, 200]] *= 8
    assert steady_start(series) == 0


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 9])
def test_short_series_are_left_whole_or_shortened_by_half(count: int) -> None:
    assert 0 <= steady_start(noisy(count)) <= count // 2


def test_two_groups_of_steps_are_found_apart() -> None:
    found = split_in_two(np.concatenate([noisy(60, 1, 35e-3, 0.02), noisy(40, 2, 49e-3, 0.02)]))
    assert found is not None
    assert found.low_s == pytest.approx(35e-3, rel=0.02)
    assert found.high_s == pytest.approx(49e-3, rel=0.02)
    assert found.share_high == pytest.approx(0.4)
    assert found.explained_share > 0.95


def test_one_group_is_not_explained_by_a_split() -> None:
    found = split_in_two(noisy(400))
    assert found is not None
    assert found.explained_share < 0.72
    assert split_in_two(np.full(50, 1e-3)) is None
    assert split_in_two(noisy(7)) is None


def test_the_trimmed_mean_ignores_one_wild_turn() -> None:
    value, error = trimmed(np.array([1.0, 1.1, 0.9, 1.0, 9.0]))
    assert value == pytest.approx(31 / 30)
    assert error < 0.1
    assert trimmed(np.array([2.0])) == (2.0, 0.0)


def test_a_summary_drops_the_warm_up_and_the_cold_steps_of_each_turn() -> None:
    cold = [8e-3, 5.4e-3, 5.2e-3]
    found = summarize(trial([[30e-3] + [9e-3] * 12, [*cold, *[5e-3] * 20], [*cold, *[5e-3] * 20]]))
    assert found.steps == 40
    assert found.dropped_steps == 19
    assert found.first_step_s == pytest.approx(30e-3, rel=1e-5)
    assert found.step_time_s == found.step_time_median_s == pytest.approx(5e-3, rel=1e-5)
    assert found.step_time_mean_s == pytest.approx(5e-3, rel=1e-5)
    assert found.steady
    assert found.estimator == "median"
    assert found.time_per_sample_s == pytest.approx(5e-3 / 32, rel=1e-5)
    assert found.samples_per_s == pytest.approx(6400, rel=1e-5)
    assert found.turn_median_s == pytest.approx({1: 5e-3, 2: 5e-3}, rel=1e-5)
    assert found.cpu_share == pytest.approx(0.999)


def test_phases_of_the_mean_step_sum_to_it() -> None:
    series = noisy(60).tolist()
    found = summarize(trial([series[:20], series[20:40], series[40:]]))
    assert set(found.phase_s) == set(PHASES)
    assert sum(found.phase_s.values()) == pytest.approx(found.step_time_mean_s, rel=1e-12)
    assert found.phase_s["backward"] / found.step_time_mean_s == pytest.approx(0.45, abs=1e-3)
    assert found.loss_s / found.step_time_mean_s == pytest.approx(0.05, abs=1e-3)


def test_a_transient_that_outlives_the_warm_up_is_cut() -> None:
    slow, steady = [11e-3] * 30, noisy(200, 3).tolist()
    found = summarize(trial([slow[:10], slow[10:] + steady[:10], *[steady[10:100], steady[100:]]]))
    assert found.steady
    assert found.step_time_p90_s < 6e-3


def test_a_process_that_never_settles_is_not_steady() -> None:
    falling = (5e-3 * np.linspace(2.5, 1.0, 200) * noisy(200, 4, 1.0, 0.01)).tolist()
    found = summarize(trial([falling[:50], falling[50:100], falling[100:150], falling[150:]]))
    assert not found.steady
    assert found.reason == "still_moving"
    assert found.drift_share < -0.15


def test_a_level_that_changes_once_is_steady_after_the_change() -> None:
    series = (np.concatenate([np.full(150, 4e-3), np.full(200, 5e-3)]) * noisy(350, 6, 1.0)).tolist()
    found = summarize(trial([series[at : at + 50] for at in range(0, 350, 50)]))
    assert found.steady
    assert found.step_time_s == pytest.approx(5e-3, rel=0.03)


def test_long_steps_are_kept_though_each_is_the_first_of_its_turn() -> None:
    found = summarize(trial([[0.4], [0.4], [0.4], [0.41], [0.4], [0.4], [0.4]]))
    assert found.steps == 6
    assert found.step_time_s == pytest.approx(0.4, rel=1e-5)
    assert found.steady


def test_too_few_steps_show_no_steady_state() -> None:
    found = summarize(trial([[30e-3], [9e-3, 9e-3]]))
    assert not found.steady
    assert found.reason == "few_steps"
    assert found.step_time_s is not None


def test_evaluation_is_left_out() -> None:
    script = Script().resume()
    for _ in range(4):
        for _ in range(10):
            script.step(1000)
        for _ in range(3):
            script.span("forward", 4_000_000, grad=False)
    script.pause()
    found = summarize(trial([], events=script.log()))
    assert found.evaluation_steps == 3
    assert found.step_time_mean_s == pytest.approx(1e-3)


def test_no_steps_at_all_give_a_summary_that_says_so() -> None:
    found = summarize(trial([], events=EventLog()))
    assert found.reason == "no_steps"
    assert found.step_time_s is None
    assert found.cpu_share is None
    assert not found.steady


def test_bursts_of_loader_workers_are_averaged_not_medianed() -> None:
    pair = [1e-3, 9e-3]
    found = summarize(trial([[1e-3] * 20, [1e-3] * 6 + pair * 100], levers={"loader_workers": 2}))
    assert found.estimator == "mean"
    assert found.step_time_s == pytest.approx(5e-3, rel=0.05)
    assert found.steps >= 190


def reading_ahead(record: TrialRecord, *batches: int | None) -> TrialRecord:
    """The trial with one loader for each number of batches it reads ahead; ``None``: the log does not say."""
    told = [{} if count is None else {"prefetched_batches": count} for count in batches]
    objects = [{"kind": "model", "prefetched_batches": 9}, *({"kind": "loader", **one} for one in told)]
    return msgspec.structs.replace(record, events=msgspec.structs.replace(record.events, objects=objects))


def test_batches_that_were_read_during_a_pause_are_not_measured() -> None:
    record = trial([[2e-3, 2e-3, 2e-3, 2e-3] + [6e-3] * 12] * 4)
    ahead = reading_ahead(record, 3)
    assert summarize(ahead).step_time_mean_s == pytest.approx(6e-3, rel=1e-4)
    assert summarize(ahead).steps == 36
    assert summarize(record).steps == 39


@pytest.mark.parametrize(
    ("batches", "workers", "dropped"),
    [
        ((), 0, 3),
        ((None,), 0, 3),
        ((0,), 0, 3),
        ((2,), 0, 3),
        ((0, 2), 0, 3),  # a second loader, for evaluation, may be the one that reads ahead
        ((2, None), 0, 3),
        ((), 2, 6),  # unknown: two batches for each worker, and the one in hand
        ((None,), 2, 6),
        ((8,), 2, 10),
    ],
)
def test_so_many_steps_are_left_out_after_each_pause(
    batches: tuple[int | None, ...], workers: int, dropped: int
) -> None:
    record = trial([[5e-3] * 20] * 3, levers={"loader_workers": workers})
    assert summarize(reading_ahead(record, *batches)).steps == 2 * (20 - dropped)


@pytest.mark.parametrize(("in_turn", "kept"), [(7, 4), (6, 3), (5, 4), (4, 3), (3, 3), (1, 1)])
def test_enough_steps_of_a_turn_are_kept(in_turn: int, kept: int) -> None:
    """Three dropped where three are left, else only the first, and none of fewer than four."""
    record = reading_ahead(trial([[5e-3] * in_turn] * 5), 2)
    assert summarize(record).steps == 4 * kept


@pytest.mark.parametrize(("in_turn", "kept"), [(20, 17), (8, 5), (7, 6), (4, 3), (3, 3)])
def test_cold_steps_are_left_out_where_enough_are_left(in_turn: int, kept: int) -> None:
    """Three of eight or more, else only the first, and none of fewer than four."""
    assert summarize(trial([[5e-3] * in_turn] * 5)).steps == 4 * kept


def test_one_short_turn_does_not_change_how_many_are_dropped_in_the_others() -> None:
    record = reading_ahead(trial([[5e-3] * 10, [5e-3] * 10, [5e-3] * 2, [5e-3] * 10]), 2)
    assert summarize(record).turn_median_s.keys() == {1, 3}


def test_on_a_device_the_wait_at_the_end_of_a_turn_is_part_of_its_steps() -> None:
    script = Script().resume().step(1000).pause()
    for _ in range(4):
        script.resume()
        for _ in range(10):
            script.step(1000)  # the host runs ahead, 1 ms a step ...
        script.wait(30_000_000).pause()  # ... and waits 30 ms for the device
    spec = TrialSpec(workload="lenet", framework="pytorch", device="cuda:0")
    found = summarize(trial([], events=script.log(), spec=spec))
    assert found.estimator == "mean"
    assert found.step_time_s == pytest.approx(4e-3)
    assert found.step_time_median_s is None
    assert found.phase_s["other"] == pytest.approx(3.03e-3)
    assert sum(found.phase_s.values()) == pytest.approx(found.step_time_mean_s)


def test_faults_are_counted_per_measured_step() -> None:
    record = trial([[5e-3] * 10, [5e-3] * 10, [5e-3] * 10], counters={"minor_faults": 500})
    assert summarize(record).minor_faults_per_step == 50
    unknown = Turn(turn=1, steps=10, counters=Counters(wall_s=1.0, child_cpu_s=1.0))
    assert summarize(trial([[5e-3] * 10], turns=[unknown])).minor_faults_per_step is None


def test_a_summary_survives_being_stored() -> None:
    found = summarize(trial([[5e-3] * 10, [5e-3] * 10]))
    assert msgspec.json.decode(msgspec.json.encode(found), type=TrialSummary) == found
    assert STATISTICS_VERSION >= 1


def cell(steps_s: list[float], rounds: list[int] | None = None, **changes: object) -> list[TrialSummary]:
    numbers = rounds or list(range(len(steps_s)))
    return [
        msgspec.structs.replace(summarize(trial([[step] * 8] * 5, round=number, **changes)), level_error_share=0.0)
        for number, step in zip(numbers, steps_s, strict=True)
    ]


def test_one_process_has_a_value_but_no_interval() -> None:
    found = cell_interval(cell([5e-3]))
    assert found.value == pytest.approx(5e-3, rel=1e-5)
    assert (found.low, found.high, found.reason) == (None, None, "one_process")
    assert found.half_width_share is None
    ratio = ratio_interval(cell([5e-3]), cell([4e-3]))
    assert ratio.value == pytest.approx(1.25, rel=1e-5)
    assert (ratio.low, ratio.reason, ratio.distinct) == (None, "one_round", False)


def test_nothing_measured_has_no_value() -> None:
    assert cell_interval([]).value is None
    assert ratio_interval([], cell([1e-3])).reason == "no_steps"


def test_the_interval_of_a_cell_is_student_on_logarithms() -> None:
    found = cell_interval(cell([5e-3, 5.5e-3]))
    logs = np.log([5e-3, 5.5e-3])
    half = 12.7062 * logs.std(ddof=1) / math.sqrt(2)
    assert found.low == pytest.approx(math.exp(logs.mean() - half), rel=1e-4)
    assert found.high == pytest.approx(math.exp(logs.mean() + half), rel=1e-4)


def test_processes_that_agree_by_luck_are_held_to_the_spread_within_them() -> None:
    lucky = [msgspec.structs.replace(one, level_error_share=0.02) for one in cell([5e-3, 5e-3])]
    assert cell_interval(lucky).half_width_share > 0.02


def test_a_ratio_counts_samples_not_steps() -> None:
    base = cell([4e-3, 4.1e-3, 4e-3], samples_per_step=32)
    other = cell([16e-3, 16.4e-3, 16e-3], samples_per_step=256)
    found = ratio_interval(base, other)
    assert found.value == pytest.approx(2.0, rel=1e-4)
    assert found.paired
    assert found.turns_paired
    assert found.distinct


def test_shared_drift_cancels_between_turns_of_a_round() -> None:
    drift = [1.0, 1.3, 0.8, 1.1, 0.9, 1.2]
    found = ratio_interval(cell([5e-3 * f for f in drift]), cell([4e-3 * f for f in drift]))
    assert found.value == pytest.approx(1.25, rel=1e-4)
    assert found.half_width_share < 1e-3


def test_only_rounds_of_both_sides_are_paired() -> None:
    found = ratio_interval(cell([5e-3, 5e-3, 50e-3], [0, 1, 2]), cell([4e-3, 4e-3], [0, 1]))
    assert found.count == 2
    assert found.value == pytest.approx(1.25, rel=1e-4)


def test_rounds_without_a_partner_are_compared_as_groups() -> None:
    found = ratio_interval(cell([5e-3, 5.2e-3], [0, 1]), cell([4e-3, 4.1e-3], [2, 3]))
    assert not found.paired
    assert found.low < found.value < found.high


def test_a_side_with_workers_makes_both_sides_use_means() -> None:
    found = ratio_interval(cell([5e-3, 5e-3]), cell([4e-3, 4e-3], levers={"loader_workers": 2}))
    assert found.estimator == "mean"


@given(st.lists(st.floats(1e-4, 1.0), min_size=2, max_size=6), st.lists(st.floats(1e-4, 1.0), min_size=2, max_size=6))
def test_swapping_the_sides_inverts_the_ratio(base_s: list[float], other_s: list[float]) -> None:
    def side(steps_s: list[float]) -> list[TrialSummary]:
        return [
            TrialSummary(
                trial_id="t", round=at, step_time_s=s, step_time_median_s=s, samples_per_step=8, time_per_sample_s=s / 8
            )
            for at, s in enumerate(steps_s)
        ]

    forth, back = ratio_interval(side(base_s), side(other_s)), ratio_interval(side(other_s), side(base_s))
    assert forth.value * back.value == pytest.approx(1.0)
    assert forth.low * back.high == pytest.approx(1.0)
    assert forth.low <= forth.value <= forth.high
