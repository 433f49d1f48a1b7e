"""Every figure of a summary, from logs in which each step's length is known."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from fake_trials import Script, trial
from hypothesis import given
from hypothesis import strategies as st

from pacenote.records import TrialSpec
from pacenote.segment import PHASES
from pacenote.stats import TrialSummary, summarize
from pacenote.stats.trimmed import trimmed

MS = 1e-3
STEP_LISTS = st.lists(st.lists(st.floats(1e-3, 20e-3), min_size=1, max_size=12), min_size=1, max_size=5)


def ms(*turns: list[float], **changes: Any) -> TrialSummary:
    """Summary of a trial whose turns' steps are given in milliseconds; the first step of a turn is not measured."""
    return summarize(trial([[step * MS for step in steps] for steps in turns], **changes))


def near(value: Any) -> Any:
    """Equal but for the nanoseconds to which the log rounds."""
    return pytest.approx(value, rel=1e-4)


WARM = [5.0] * 10


def test_median_mean_and_quantiles_of_the_measured_steps() -> None:
    found = ms(WARM, [9, 4, 5, 6, 7, 8], [9, 4, 5, 6, 7, 28])
    steps = np.array([4, 5, 6, 7, 8, 4, 5, 6, 7, 28]) * MS
    assert found.steps == 10
    assert found.step_time_median_s == near(6 * MS)
    assert found.step_time_mean_s == near(steps.mean())
    assert found.step_time_p10_s == near(np.quantile(steps, 0.1))
    assert found.step_time_p90_s == near(np.quantile(steps, 0.9))
    assert found.spread_share == near(steps.std() / steps.mean())


def test_each_turn_has_its_level() -> None:
    found = ms(WARM, [9, 4, 5, 9], [9, 5, 5, 8], [9, 6, 6, 6])
    assert found.turn_median_s == near({1: 5 * MS, 2: 5 * MS, 3: 6 * MS})
    assert found.turn_quartile_s.keys() == found.turn_median_s.keys()
    assert all(found.turn_quartile_s[turn] <= found.turn_median_s[turn] for turn in (1, 2, 3))
    assert found.turn_mean_s == near({1: 6 * MS, 2: 6 * MS, 3: 6 * MS})
    assert found.step_time_block_s == near(6 * MS)


def test_the_error_within_a_process_is_that_of_its_turns_medians() -> None:
    found = ms(WARM, [9, 4, 5, 9], [9, 5, 5, 8], [9, 6, 6, 6], [9, 5, 7, 9])
    assert found.level_error_share == near(trimmed(np.log([5.0, 5.0, 6.0, 7.0]))[1])


def test_one_long_turn_is_cut_into_eight_blocks() -> None:
    factors = [1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.0, 1.02]
    steps = [5.0 * factor for factor in factors for _ in range(10)]
    found = ms(WARM, [9.0, *steps])
    assert found.steps == 78
    assert found.level_error_share == near(trimmed(np.log(factors))[1])
    assert found.turn_median_s.keys() == {1}


@pytest.mark.parametrize(("steps", "steady"), [(3, False), (4, False), (5, True), (6, True)])
def test_five_measured_steps_show_a_steady_state(steps: int, steady: bool) -> None:
    found = ms(WARM, [9.0] + [5.0] * steps)
    assert found.steps == steps
    assert (found.steady, found.reason) == (steady, "" if steady else "few_steps")


def test_without_a_later_turn_the_warm_up_is_all_there_is() -> None:
    found = ms([9.0, 8.0, 7.0] + [5.0] * 20)
    assert found.steps == 20
    assert found.step_time_s == near(5 * MS)
    assert found.turn_median_s.keys() == {0}


def test_the_first_step_is_told_apart_and_not_measured() -> None:
    found = ms([80.0] + [5.0] * 9, [9.0] + [5.0] * 9)
    assert found.first_step_s == near(80 * MS)
    assert found.step_time_p90_s == near(5 * MS)
    assert found.dropped_steps == 13


@pytest.mark.parametrize(("last", "drift"), [(5.0, 0.0), (6.0, 0.2), (4.0, -0.2)])
def test_drift_is_the_last_third_over_the_first(last: float, drift: float) -> None:
    found = ms(WARM, [9.0] + [5.0] * 30, [9.0] + [5.0] * 30, [9.0] + [last] * 30)
    assert found.drift_share == pytest.approx(drift, abs=1e-4)
    assert found.drift_error_share == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize(("steps", "known"), [(10, False), (11, True)])
def test_drift_takes_nine_steps(steps: int, known: bool) -> None:
    assert (ms(WARM, [9.0] + [5.0] * steps).drift_share is not None) == known


@pytest.mark.parametrize(("samples", "rate"), [(32, 32 / 5e-3), (1, 200.0)])
def test_throughput_is_samples_over_the_typical_step(samples: int, rate: float) -> None:
    found = ms(WARM, [9.0] + [5.0] * 9, samples_per_step=samples)
    assert found.samples_per_s == near(rate)
    assert found.time_per_sample_s == near(1 / rate)


def test_unknown_samples_leave_throughput_unknown() -> None:
    found = ms(WARM, [9.0] + [5.0] * 9, samples_per_step=None)
    assert (found.samples_per_s, found.time_per_sample_s) == (None, None)
    assert found.step_time_s == near(5 * MS)


def test_cpu_time_and_faults_are_those_of_the_measured_turns() -> None:
    made = trial([[5 * MS] * 10] * 3)
    busy = [2.0, 0.5, 0.7]
    turns = [
        msgspec.structs.replace(
            turn,
            counters=msgspec.structs.replace(turn.counters, wall_s=1.0, child_cpu_s=cpu, minor_faults=round(cpu * 100)),
        )
        for turn, cpu in zip(made.turns, busy, strict=True)
    ]
    found = summarize(msgspec.structs.replace(made, turns=turns))
    assert found.cpu_share == pytest.approx(0.6)
    assert found.minor_faults_per_step == pytest.approx(120 / 20)
    alone = summarize(msgspec.structs.replace(made, turns=turns[:1]))
    assert alone.cpu_share == pytest.approx(2.0)


def test_a_turn_without_the_fault_counter_is_left_out_of_it() -> None:
    made = trial([[5 * MS] * 10] * 3, counters={"minor_faults": 40})
    blind = msgspec.structs.replace(
        made.turns[1], counters=msgspec.structs.replace(made.turns[1].counters, minor_faults=None)
    )
    found = summarize(msgspec.structs.replace(made, turns=[made.turns[0], blind, made.turns[2]]))
    assert found.minor_faults_per_step == pytest.approx(4.0)


def test_no_time_at_all_leaves_the_cpu_share_unknown() -> None:
    assert ms(WARM, WARM, counters={"wall_s": 0.0, "child_cpu_s": 0.0}).cpu_share is None
    assert ms(WARM, WARM, turns=[]).cpu_share is None
    assert ms(WARM, WARM, turns=[]).minor_faults_per_step is None


def test_a_step_that_evaluates_is_left_out_wherever_it_is() -> None:
    script = Script()
    for _ in range(3):
        script.resume()
        for at in range(8):
            if at == 4:
                script.span("forward", 50_000_000, grad=False)
            script.step(5_000)
        script.pause()
    found = summarize(trial([], events=script.log()))
    assert found.evaluation_steps == 3
    assert found.step_time_p90_s == near(5 * MS)
    assert found.steps == 2 * 4


def test_each_phase_is_the_mean_over_measured_steps() -> None:
    found = ms(WARM, [9.0] + [5.0] * 20)
    shares = {name: found.phase_s[name] / found.step_time_mean_s for name in PHASES}
    expected = {"data_wait": 0.1, "copy": 0.0, "forward": 0.3, "backward": 0.45, "optimizer": 0.12, "other": 0.03}
    assert shares == pytest.approx(expected, abs=1e-3)


def test_a_device_in_its_warm_up_alone_is_averaged_over_steps() -> None:
    spec = TrialSpec(workload="lenet", framework="pytorch", device="cuda:0")
    found = ms([9.0] + [5.0] * 20, spec=spec)
    assert found.estimator == "mean"
    assert found.step_time_median_s == near(5 * MS)


def on_device(*waits_ms: float) -> TrialSummary:
    """A warm-up, then turns of ten steps of 1 ms each and a wait for the device."""
    script = Script().resume().step(1000).pause()
    for wait_ms in waits_ms:
        script.resume()
        for _ in range(10):
            script.step(1000)
        script.wait(round(wait_ms * 1e6)).pause()
    return summarize(
        trial([], events=script.log(), spec=TrialSpec(workload="lenet", framework="pytorch", device="cuda:0"))
    )


def test_a_device_is_measured_from_one_synchronisation_to_the_next() -> None:
    found = on_device(10.0, 20.0, 90.0)
    assert found.turn_mean_s == near({1: 2 * MS, 2: 3 * MS, 3: 10 * MS})
    assert found.turn_median_s == {}
    assert found.step_time_s == near(3 * MS)
    assert found.step_time_mean_s == near(5 * MS)
    assert found.phase_s["other"] == near(0.03 * MS + 4 * MS)
    assert found.level_error_share == near(trimmed(np.log([2.0, 3.0, 10.0]))[1])


def test_on_a_device_the_first_step_of_a_turn_counts() -> None:
    assert on_device(10.0, 10.0).steps == 20


@given(STEP_LISTS)
def test_what_holds_for_every_log(steps_s: list[list[float]]) -> None:
    found = summarize(trial(steps_s))
    assert found.steps + found.dropped_steps == sum(len(steps) for steps in steps_s)
    assert found.steps > 0
    assert sum(found.phase_s.values()) == pytest.approx(found.step_time_mean_s)
    lowest, highest = min(map(min, steps_s)), max(map(max, steps_s))
    assert lowest * 0.999 <= found.step_time_p10_s <= found.step_time_p90_s <= highest * 1.001
    assert lowest * 0.999 <= found.step_time_s <= highest * 1.001
    assert found.level_error_share >= 0.0
    assert math.isfinite(found.spread_share)
    assert set(found.turn_median_s) == set(found.turn_mean_s)


@given(STEP_LISTS, st.sampled_from([2.0, 8.0]))
def test_steps_twice_as_long_make_every_time_twice_as_long(steps_s: list[list[float]], factor: float) -> None:
    plain = summarize(trial(steps_s))
    longer = summarize(trial([[step * factor for step in steps] for steps in steps_s]))
    if plain.steps == longer.steps:  # rounding to nanoseconds may move a start by a step
        assert longer.step_time_mean_s == pytest.approx(plain.step_time_mean_s * factor, rel=1e-3)
        assert longer.step_time_s == pytest.approx(plain.step_time_s * factor, rel=1e-3)
        assert longer.spread_share == pytest.approx(plain.spread_share, abs=1e-3)


def test_a_summary_of_a_summary_is_stored_whole() -> None:
    found = ms(WARM, [9.0] + [5.0, 7.0] * 20, [9.0] + [5.0, 7.0] * 20)
    assert found.bimodality is not None
    again = msgspec.convert(msgspec.json.decode(msgspec.json.encode(found)), TrialSummary, str_keys=True)
    assert again == found
