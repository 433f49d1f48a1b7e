"""Segmentation of the shapes that training programs have in the wild, and of pauses at any place."""

from __future__ import annotations

import numpy as np
import pytest
from fake_trials import Script
from hypothesis import given
from hypothesis import strategies as st

from pacenote.records import EventLog
from pacenote.segment import PHASES, Segments, segment


def ns(values: np.ndarray) -> list[int]:
    return np.rint(np.asarray(values) * 1e9).astype(int).tolist()


def sums(found: Segments) -> dict[str, int]:
    return {name: sum(ns(found.phases[name])) for name in PHASES}


def test_a_line_search_calls_its_closure_several_times() -> None:
    script = Script().resume()
    for calls in (3, 5, 4):
        script.span("data_wait", 10).begin("optimizer")
        for _ in range(calls):
            script.span("zero", 1).span("forward", 20).span("loss", 2).span("backward", 30).wait(3)
        script.end("optimizer")
    found = segment(script.log())
    assert found.counts["backward"].tolist() == [3, 5, 4]
    assert ns(found.phases["forward"]) == [66, 110, 88]
    assert ns(found.phases["optimizer"]) == [12, 20, 16]
    assert ns(found.total_s) == [10 + 56 * calls for calls in (3, 5, 4)]


def test_accumulation_inside_closures_as_trainers_do_it() -> None:
    script = Script().resume()
    for _ in range(4):
        script.span("data_wait", 10).span("forward", 20).span("backward", 30)  # first half, no step
        script.span("data_wait", 10).begin("optimizer").span("forward", 20).span("backward", 30).wait(5)
        script.end("optimizer")
    found = segment(script.log())
    assert len(found) == 4
    assert found.counts["data_wait"].tolist() == [2] * 4
    assert ns(found.total_s) == [125] * 4
    assert not found.evaluation.any()


def test_minimize_that_calls_step_inside_is_one_step() -> None:
    script = Script().resume()
    for _ in range(3):
        script.span("forward", 20).begin("optimizer", index=4).span("backward", 30).span("optimizer", 6, index=4)
        script.end("optimizer", index=4)
    found = segment(script.log())
    assert ns(found.total_s) == [56] * 3
    assert ns(found.phases["backward"]) == [30] * 3
    assert found.counts["optimizer"].tolist() == [1] * 3


def test_a_generator_and_its_critic_cut_short_in_the_middle() -> None:
    script = Script().resume()
    for _ in range(4):
        script.span("forward", 10, index=0).span("backward", 12).span("optimizer", 3, index=0)
        script.span("forward", 20, index=1).span("backward", 22).span("optimizer", 5, index=1)
    script.span("forward", 10, index=0).span("backward", 12).span("optimizer", 3, index=0)
    found = segment(script.log())
    assert ns(found.total_s) == [72] * 4


def test_a_critic_that_runs_without_gradients_in_every_step() -> None:
    script = Script().resume()
    for _ in range(6):
        script.span("data_wait", 1, index=9).span("forward", 10, index=1, grad=False).span("forward", 5, index=0)
        script.span("backward", 5).span("optimizer", 2, index=0).span("forward", 9, index=1).span("backward", 8)
        script.span("optimizer", 2, index=1)
    assert not segment(script.log()).evaluation.any()


def test_a_long_evaluation_stands_out_even_where_each_step_has_a_teacher() -> None:
    script = Script().resume()
    for step in range(8):
        script.span("data_wait", 1, index=9).span("forward", 10, index=1, grad=False).span("forward", 5, index=0)
        script.span("backward", 5).span("optimizer", 2)
        if step == 3:
            for _ in range(6):
                script.span("data_wait", 1, index=8, grad=False).span("forward", 5, index=0, grad=False)
    assert np.flatnonzero(segment(script.log()).evaluation).tolist() == [4]


def test_data_made_between_forward_and_backward_is_other_not_backward() -> None:
    script = Script().resume()
    for _ in range(3):
        script.span("forward", 20).wait(7).span("backward", 30).wait(4).span("optimizer", 5)
    found = segment(script.log())
    assert ns(found.phases["other"]) == [11] * 3
    assert ns(found.phases["backward"]) == [30] * 3


def test_copies_inside_a_fetch_and_inside_a_forward_are_copies() -> None:
    script = Script().resume()
    for _ in range(2):
        script.begin("data_wait").wait(10).span("copy", 4).wait(1).end("data_wait")
        script.begin("forward").wait(8).span("copy", 2).wait(3).end("forward").span("optimizer", 1)
    found = segment(script.log())
    assert ns(found.phases["copy"]) == [6, 6]
    assert ns(found.phases["data_wait"]) == [11, 11]
    assert ns(found.phases["forward"]) == [11, 11]
    assert found.counts["copy"].tolist() == [2, 2]


def test_a_loss_module_inside_the_model_is_told_apart_within_forward() -> None:
    script = Script().resume().begin("forward").wait(9).span("loss", 4).wait(2).end("forward").span("optimizer", 1)
    found = segment(script.log())
    assert ns(found.phases["forward"]) == [15]
    assert ns(found.loss_s) == [4]


def test_a_validation_loop_before_training_starts_marks_its_step() -> None:
    script = Script().resume()
    for _ in range(3):
        script.span("data_wait", 1, index=5, grad=False).span("forward", 9, grad=False)
    for _ in range(6):
        script.span("data_wait", 1, index=4).span("forward", 5).span("backward", 5).span("optimizer", 2)
    assert segment(script.log()).evaluation.tolist() == [True, False, False, False, False, False]


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_a_log_without_a_gate_is_one_turn(steps: int) -> None:
    script = Script()
    for _ in range(steps):
        script.step()
    found = segment(script.log())
    assert ns(found.total_s) == [1000] * steps
    assert found.turn.tolist() == [0] * steps
    assert found.turns.steps.tolist() == [steps]
    assert ns(found.turns.span_s) == [1000 * steps]


def test_a_turn_in_which_no_step_ended_is_still_a_turn() -> None:
    script = Script().resume().step().pause().resume().span("forward", 50).pause().resume().step().pause()
    found = segment(script.log())
    assert found.turn.tolist() == [0, 2]
    assert found.turns.steps.tolist() == [1, 0, 1]
    assert ns(found.turns.span_s) == [1000, 50, 1000]
    assert ns(found.total_s) == [1000, 1050]  # the work of the empty turn belongs to the step that it began


def test_a_log_that_breaks_off_keeps_its_finished_steps() -> None:
    script = Script().resume().step().step().begin("data_wait").wait(40)
    found = segment(script.log())
    assert ns(found.total_s) == [1000, 1000]


def test_a_log_that_ends_paused() -> None:
    script = Script().resume().step().wait(20).pause(900)
    found = segment(script.log())
    assert ns(found.total_s) == [1000]
    assert ns(found.turns.tail_s) == [20]


def with_pause(log: EventLog, at: int, length_ns: int) -> EventLog:
    """The same program, stopped for a while right after event ``at``."""
    t_ns, code = np.frombuffer(log.t_ns, "<i8"), np.frombuffer(log.code, "<i8")
    stop = Script(int(t_ns[at]))
    stop.pause(length_ns).resume()
    times = np.concatenate([t_ns[: at + 1], np.array(stop.t_ns), t_ns[at + 1 :] + length_ns])
    codes = np.concatenate([code[: at + 1], np.array(stop.code), code[at + 1 :]])
    return EventLog(t_ns=times.astype("<i8").tobytes(), code=codes.astype("<i8").tobytes())


@given(
    at=st.integers(0, 59), length_ns=st.integers(1, 10**9), scales=st.lists(st.floats(0.2, 9.0), min_size=5, max_size=5)
)
def test_a_pause_anywhere_changes_no_phase_of_any_step(at: int, length_ns: int, scales: list[float]) -> None:
    script = Script().resume()
    for scale in scales:
        script.step(scale)
    plain = segment(script.log())
    paused = segment(with_pause(script.log(), at, length_ns))
    assert {name: ns(paused.phases[name]) for name in PHASES} == {name: ns(plain.phases[name]) for name in PHASES}
    assert ns(paused.total_s) == ns(plain.total_s)
    assert sum(ns(paused.turns.span_s)) == sum(ns(plain.turns.span_s))


@given(shift_ns=st.integers(0, 10**15), scales=st.lists(st.floats(0.2, 9.0), min_size=1, max_size=6))
def test_the_origin_of_the_clock_does_not_matter(shift_ns: int, scales: list[float]) -> None:
    early, late = Script(0), Script(shift_ns)
    for script in (early, late):
        script.resume()
        for scale in scales:
            script.step(scale)
        script.pause()
    assert sums(segment(early.log())) == sums(segment(late.log()))


@given(st.integers(2, 5), st.integers(1, 6))
def test_steps_are_independent_of_how_they_are_grouped_into_turns(turns: int, steps: int) -> None:
    script, together = Script(), Script().resume()
    for _ in range(turns):
        script.resume()
        for _ in range(steps):
            script.step()
            together.step()
        script.pause(12_345)
    apart, whole = segment(script.log()), segment(together.pause().log())
    assert ns(apart.total_s) == ns(whole.total_s)
    assert apart.first_of_turn.sum() == turns
    assert whole.first_of_turn.sum() == 1
