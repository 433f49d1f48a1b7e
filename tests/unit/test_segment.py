"""Segmentation is exact: on hand-written logs every phase of every step is known to the nanosecond."""

from __future__ import annotations

import numpy as np
import pytest
from fake_trials import Script, training_log
from hypothesis import given
from hypothesis import strategies as st

from pacenote.child import events
from pacenote.records import EventLog
from pacenote.segment import COUNTED, PHASES, Segments, segment


def ns(values: np.ndarray) -> list[int]:
    return np.rint(np.asarray(values) * 1e9).astype(int).tolist()


def phase_table(found: Segments) -> dict[str, list[int]]:
    return {name: ns(found.phases[name]) for name in PHASES}


def check_tiling(found: Segments) -> None:
    summed = sum(np.rint(found.phases[name] * 1e9) for name in PHASES)
    assert ns(found.total_s) == np.asarray(summed).astype(int).tolist()


def test_an_ordinary_step_is_cut_to_the_nanosecond() -> None:
    script = Script().resume().step().step().pause()
    found = segment(script.log())
    assert found.anchor == "optimizer"
    assert len(found) == 2
    assert phase_table(found) == {
        "data_wait": [100, 100],
        "copy": [0, 0],
        "forward": [300, 300],
        "backward": [450, 450],
        "optimizer": [120, 120],
        "other": [30, 30],
    }
    assert ns(found.loss_s) == [50, 50]
    assert ns(found.total_s) == [1000, 1000]


def test_pauses_belong_to_no_step_and_turns_are_numbered() -> None:
    script = Script().resume().step().step().wait(7).pause(90_000).resume().wait(3).step().step().pause(400)
    found = segment(script.resume().step().pause().log())
    assert found.turn.tolist() == [0, 0, 1, 1, 2]
    assert found.first_of_turn.tolist() == [True, False, True, False, True]
    assert ns(found.total_s) == [1000, 1000, 1003, 1000, 1000]
    assert found.turns.turn.tolist() == [0, 1, 2]
    assert ns(found.turns.span_s) == [2007, 2003, 1000]
    assert ns(found.turns.tail_s) == [7, 0, 0]
    assert found.turns.steps.tolist() == [2, 2, 1]


def test_a_step_cut_by_a_pause_keeps_the_work_done_before_it() -> None:
    script = Script().resume().step().wait(10).span("data_wait", 40).pause(90_000).resume()
    found = segment(script.span("forward", 60).span("optimizer", 5).pause().log())
    assert ns(found.total_s) == [1000, 115]
    assert ns(found.phases["data_wait"]) == [100, 40]
    assert ns(found.phases["other"]) == [30, 10]
    assert found.turn.tolist() == [0, 1]


def test_a_pause_inside_a_span_is_not_counted_as_that_span() -> None:
    script = Script().resume().begin("data_wait").wait(30).pause(90_000).resume().wait(20).end("data_wait")
    found = segment(script.span("optimizer", 5).log())
    assert ns(found.phases["data_wait"]) == [50]
    assert ns(found.total_s) == [55]


def test_time_before_the_first_turn_is_left_out() -> None:
    script = Script().step().wait(500).resume().step().pause()
    found = segment(script.log())
    assert ns(found.total_s) == [1000]


def test_closure_forward_and_backward_inside_the_optimizer() -> None:
    script = Script().resume()
    for _ in range(3):
        script.span("data_wait", 10).begin("optimizer").wait(4)
        script.span("zero", 6).span("forward", 200).span("loss", 20).span("backward", 300).wait(7)
        script.end("optimizer")
    found = segment(script.log())
    assert phase_table(found) == {
        "data_wait": [10] * 3,
        "copy": [0] * 3,
        "forward": [220] * 3,
        "backward": [300] * 3,
        "optimizer": [17] * 3,
        "other": [0] * 3,
    }


def test_accumulation_closes_one_step_per_optimizer_call() -> None:
    script = Script().resume()
    for _ in range(2):
        for _ in range(4):
            script.span("data_wait", 10).span("forward", 20).span("backward", 30)
        script.span("optimizer", 5)
    found = segment(script.log())
    assert ns(found.total_s) == [245, 245]
    assert found.counts["forward"].tolist() == [4, 4]
    assert found.counts["optimizer"].tolist() == [1, 1]


def test_two_optimizers_are_anchored_on_the_one_that_steps_last() -> None:
    script = Script().resume()
    for _ in range(3):
        script.span("data_wait", 10).span("forward", 20).span("backward", 30).span("optimizer", 4, index=0)
        script.span("forward", 25).span("backward", 35).span("optimizer", 6, index=1)
    found = segment(script.log())
    assert ns(found.total_s) == [130] * 3
    assert found.counts["optimizer"].tolist() == [2, 2, 2]
    assert ns(found.phases["optimizer"]) == [10] * 3


def test_the_rarest_optimizer_is_the_anchor() -> None:
    script = Script().resume()
    for _ in range(2):
        for _ in range(5):
            script.span("forward", 10).span("backward", 10).span("optimizer", 1, index=7)
        script.span("optimizer", 3, index=2)
    found = segment(script.log())
    assert ns(found.total_s) == [108, 108]


def test_a_wrapped_optimizer_counts_once() -> None:
    script = Script().resume()
    for _ in range(3):
        script.span("forward", 10).begin("optimizer", index=0).wait(2).span("optimizer", 5, index=1).wait(3)
        script.end("optimizer", index=0)
    found = segment(script.log())
    assert ns(found.total_s) == [20] * 3
    assert found.counts["optimizer"].tolist() == [1, 1, 1]


def test_a_prefetching_loader_merges_no_steps() -> None:
    script = Script().resume().span("data_wait", 11)
    for _ in range(9):
        script.span("data_wait", 11).span("forward", 20).span("backward", 30).span("optimizer", 5)
    script.span("forward", 20).span("backward", 30).span("optimizer", 5)
    found = segment(script.log())
    assert ns(found.total_s) == [77] + [66] * 8 + [55]
    assert not found.evaluation.any()


def test_evaluation_with_gradients_off_is_marked() -> None:
    script = Script().resume()
    for epoch in range(3):
        for _ in range(5):
            script.span("data_wait", 1, index=0).span("forward", 2, index=1).span("optimizer", 3)
        for _ in range(4):
            script.span("data_wait", 1, index=2 + epoch, grad=False).span("forward", 9, index=1, grad=False)
    found = segment(script.log())
    assert np.flatnonzero(found.evaluation).tolist() == [5, 10]


def test_evaluation_without_no_grad_is_known_by_its_loader() -> None:
    script = Script().resume()
    for _ in range(3):
        for _ in range(5):
            script.span("data_wait", 1, index=0).span("forward", 2).span("backward", 2).span("optimizer", 3)
        for _ in range(4):
            script.span("data_wait", 1, index=9).span("forward", 2)
    found = segment(script.log())
    assert np.flatnonzero(found.evaluation).tolist() == [5, 10]


@pytest.mark.parametrize("habit", ["frozen teacher", "two loaders"])
def test_what_every_step_does_is_not_evaluation(habit: str) -> None:
    script = Script().resume()
    for _ in range(6):
        script.span("data_wait", 1, index=0)
        if habit == "two loaders":
            script.span("data_wait", 1, index=1)
        else:
            script.span("forward", 2, index=5, grad=False)
        script.span("forward", 2, index=2).span("backward", 2).span("optimizer", 3)
    assert not segment(script.log()).evaluation.any()


def test_no_optimizer_is_anchored_on_backward() -> None:
    script = Script().resume()
    for _ in range(4):
        script.span("data_wait", 5).span("forward", 20).span("backward", 30).wait(8)
    found = segment(script.log())
    assert found.anchor == "backward"
    assert ns(found.total_s) == [55, 63, 63, 63]


def test_a_loader_alone_is_anchored_on_batches() -> None:
    script = Script().resume().wait(2)
    for _ in range(4):
        script.span("data_wait", 50).wait(2)
    found = segment(script.log())
    assert found.anchor == "data"
    assert ns(found.phases["data_wait"]) == [50] * 4
    assert ns(found.total_s) == [52] * 4
    assert not found.evaluation.any()


def test_logs_without_steps() -> None:
    for log in (EventLog(), Script().resume().log(), Script().resume().span("forward", 4).pause().log()):
        found = segment(log)
        assert found.anchor == "none"
        assert len(found) == 0
        assert set(found.phases) == set(PHASES)


def test_a_span_left_open_by_an_exception_takes_no_time() -> None:
    script = Script().resume().begin("optimizer").wait(50)
    found = segment(script.step().step().log())
    assert ns(found.total_s) == [1050, 1000]
    assert ns(found.phases["other"]) == [80, 30]


def test_a_closing_event_without_an_opening_one_is_ignored() -> None:
    script = Script().resume().end("backward").wait(4).step()
    assert ns(segment(script.log()).phases["backward"]) == [450]


def test_spans_of_another_thread_need_not_nest() -> None:
    script = Script().resume().begin("data_wait").wait(5).begin("forward").wait(10).end("data_wait").wait(20)
    found = segment(script.end("forward").span("optimizer", 1).log())
    assert ns(found.phases["forward"]) == [30]
    assert ns(found.phases["data_wait"]) == [5]


def test_an_opening_event_appended_late_is_put_in_its_place() -> None:
    script = Script(100).resume().wait(50)
    script.event(events.DATA_END)
    script.t_ns.append(110)
    script.code.append(events.code(events.DATA_BEGIN))
    found = segment(script.span("optimizer", 5).log())
    assert ns(found.phases["data_wait"]) == [40]


def test_named_regions_change_nothing() -> None:
    script = Script().resume().begin("user").wait(3).step().end("user").pause()
    found = segment(script.log())
    assert ns(found.total_s) == [1003]
    assert ns(found.phases["other"]) == [33]


def test_the_device_stream_is_kept_apart() -> None:
    script = Script().resume()
    for _ in range(3):
        script.span("forward", 10).span("optimizer", 5).span("forward", 70, stream=1).span("optimizer", 9, stream=1)
    script.pause()
    host, device = segment(script.log()), segment(script.log(), stream=1)
    assert ns(host.phases["forward"]) == [10] * 3
    assert ns(host.total_s) == [15, 94, 94]
    assert ns(device.phases["forward"]) == [70] * 3
    assert ns(device.phases["optimizer"]) == [9] * 3
    assert ns(device.phases["other"]) == [15] * 3


def test_turn_spans_include_the_wait_for_the_device() -> None:
    script = Script().resume().step().step().wait(800).pause(10).resume().step().wait(700).pause()
    found = segment(script.log())
    assert ns(found.total_s) == [1000] * 3
    assert ns(found.turns.span_s) == [2800, 1700]
    assert ns(found.turns.tail_s) == [800, 700]


NAMES = ("data_wait", "copy", "forward", "loss", "backward", "zero")
TREE = st.recursive(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 50), st.just(())),
    lambda inner: st.tuples(st.sampled_from(NAMES), st.integers(0, 50), st.lists(inner, max_size=3)),
    max_leaves=8,
)
STEP = st.tuples(st.lists(TREE, max_size=4), st.integers(1, 40), st.integers(0, 9))
LOG = st.lists(st.lists(STEP, min_size=1, max_size=4), min_size=1, max_size=4)


def write(script: Script, tree: tuple, expected: dict[str, int]) -> None:
    name, own_ns, inner = tree
    script.begin(name).wait(own_ns)
    for child in inner:
        write(script, child, expected)
    script.end(name)
    phase = {"loss": "forward", "zero": "optimizer"}.get(name, name)
    expected[phase] += own_ns


@given(LOG)
def test_any_nesting_gives_each_phase_its_own_time_and_steps_tile_the_turn(turns: list) -> None:
    script, expected, spans = Script(), [], []
    for steps in turns:
        began_ns = script.resume().now_ns
        for trees, optimizer_ns, gap_ns in steps:
            wanted = dict.fromkeys(PHASES, 0)
            script.wait(gap_ns)
            for tree in trees:
                write(script, tree, wanted)
            script.span("optimizer", optimizer_ns)
            wanted["optimizer"] += optimizer_ns
            wanted["other"] += gap_ns
            expected.append(wanted)
        spans.append(script.now_ns - began_ns)
        script.wait(11).pause()
    found = segment(script.log())
    check_tiling(found)
    assert phase_table(found) == {name: [step[name] for step in expected] for name in PHASES}
    tiled = [sum(ns(found.total_s[found.turn == turn])) for turn in range(len(turns))]
    assert tiled == spans
    assert ns(found.turns.span_s) == [span + 11 for span in spans]


@given(st.lists(st.tuples(st.integers(0, 17), st.booleans(), st.integers(0, 3), st.integers(0, 20)), max_size=60))
def test_any_log_at_all_keeps_the_sums(happenings: list) -> None:
    script = Script().resume()
    for kind, grad, index, ns_after in happenings:
        script.event(kind, grad=grad, index=index).wait(ns_after)
    found = segment(script.log())
    check_tiling(found)
    assert (found.total_s >= 0).all()
    assert sum(ns(found.total_s)) <= script.now_ns - 1_000
    assert set(found.counts) == set(COUNTED)
    assert int(found.turns.steps.sum()) == len(found)


def test_training_log_of_the_fakes_lasts_as_asked() -> None:
    found = segment(training_log([[1e-3, 2e-3], [3e-3]]))
    assert np.allclose(found.total_s, [1e-3, 2e-3, 3e-3], rtol=1e-5)


def appended(log: EventLog, *added: tuple[int, int]) -> EventLog:
    """The log with further host events, given as time and kind."""
    times = np.concatenate((np.frombuffer(log.t_ns, "<i8"), np.array([at for at, _ in added], "<i8")))
    codes = np.concatenate((np.frombuffer(log.code, "<i8"), np.array([events.code(kind) for _, kind in added], "<i8")))
    return EventLog(t_ns=times.tobytes(), code=codes.tobytes(), objects=log.objects)


def test_time_that_we_took_ourselves_belongs_to_no_step() -> None:
    script = Script().resume().step()
    taken_ns = script.now_ns
    log = script.wait(500).step().pause().log()
    plain = segment(log)
    found = segment(appended(log, (taken_ns + 100, events.AWAY_BEGIN), (taken_ns + 400, events.AWAY_END)))
    assert ns(plain.total_s) == [1000, 1500]
    assert ns(found.total_s) == [1000, 1200]
    check_tiling(found)


def test_steps_recorded_in_depth_are_marked() -> None:
    script = Script().resume().step()
    begin_ns = script.now_ns
    script.step().step()
    end_ns = script.now_ns
    log = script.step().pause().log()
    found = segment(appended(log, (begin_ns + 1, events.DEPTH_BEGIN), (end_ns + 1, events.DEPTH_END)))
    assert found.depth.tolist() == [False, True, True, True]  # the last one holds the end of the recording
    assert not segment(log).depth.any()
