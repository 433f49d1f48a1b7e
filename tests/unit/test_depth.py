"""A recording in depth is read back as what ran: own times, what launched what, how busy a device was."""

from __future__ import annotations

import zlib
from array import array

import numpy as np
import pytest

from pacenote.child import events
from pacenote.child.depth import CALLS_KEPT, SHAPES_KEPT, Calls, shortened
from pacenote.depth import calls_of, copies, devices, from_message, operators, outside
from pacenote.records import Depth, EventLog


def recorded() -> Depth:
    calls = Calls()
    main, stream = calls.track("thread", "1"), calls.track("device", "cuda:0 stream 7")
    linear = calls.add(calls.object("op", "aten::linear", [[4, 8], [2, 8]], ["float", "float"]), main, 0, 1_000)
    product = calls.add(calls.object("op", "aten::addmm", [[2], [4, 8], [8, 2]]), main, 200, 600)
    calls.add(calls.object("op", "aten::linear", [[4, 8], [2, 8]], ["float", "float"]), main, 2_000, 1_000)
    calls.add(calls.object("op", "aten::relu", [[4, 2]]), main, 4_000, 500)
    calls.add(calls.object("kernel", "gemm"), stream, 5_000, 3_000, product)
    calls.add(calls.object("kernel", "gemm"), stream, 7_000, 2_000, linear)
    calls.add(calls.object("copy", "HtoD", source="pageable", target="device", bytes=4096), stream, 10_000, 500)
    calls.allocated("cpu", 100)
    calls.allocated("cpu", -100)
    calls.allocated("cpu", 60)
    return from_message({"steps": 2, **calls.packed()})


def test_an_operator_counts_without_those_it_calls() -> None:
    rows = {row.name: row for row in operators(recorded())}
    assert rows["aten::linear"].calls == 1.0
    assert rows["aten::linear"].host_s == pytest.approx((1_000 - 600 + 1_000) / 1e9 / 2)
    assert rows["aten::addmm"].host_s == pytest.approx(600 / 1e9 / 2)
    assert rows["aten::linear"].shapes == "4x8 2x8"
    assert "gemm" not in rows


def test_the_time_of_a_device_goes_to_the_operator_that_launched_it() -> None:
    rows = operators(recorded())
    assert [row.name for row in rows[:2]] == ["aten::addmm", "aten::linear"]
    assert rows[0].device_s == pytest.approx(3_000 / 1e9 / 2)


def test_copies_and_streams_are_summed_per_step() -> None:
    (copy,) = copies(recorded())
    assert (copy.source, copy.target, copy.calls, copy.copied_bytes) == ("pageable", "device", 0.5, 2048.0)
    (stream,) = devices(recorded())
    assert stream.kernels == 1.0
    assert stream.median_kernel_s == pytest.approx(2.5e-6)
    assert stream.busy_share == pytest.approx((9_000 - 5_000 + 500) / 10_500)  # overlapping kernels count once


def test_allocations_are_counted_and_their_rise_is_the_largest() -> None:
    assert recorded().memory == {"cpu": {"allocations": 2, "allocated_bytes": 160, "rise_bytes": 100}}


def test_a_recording_is_bounded() -> None:
    calls = Calls()
    what, where = calls.object("op", "one"), calls.track("thread", "1")
    indices = [calls.add(what, where, at, 1) for at in range(CALLS_KEPT + 2)]
    assert indices[-1] == -1
    assert len(calls) == CALLS_KEPT
    assert calls.packed()["left_out"] == 2


def test_long_lists_of_shapes_are_shortened() -> None:
    assert shortened([[2, 3], [], "text", [[4], [5, 6]]]) == "2x3 - - [4 5x6]"
    assert shortened([]) == ""
    assert len(shortened([[1, 2, 3]] * 1_000)) == SHAPES_KEPT + 1


def test_an_empty_recording_has_no_rows() -> None:
    empty = from_message({"steps": 3, **Calls().packed()})
    assert operators(empty) == []
    assert copies(empty) == []
    assert devices(empty) == []


def test_damaged_series_are_said_to_be_so() -> None:
    one = zlib.compress(array("q", [1]).tobytes())
    with pytest.raises(ValueError, match="differ in length"):
        calls_of(Depth(steps=1, began_ns=one))
    with pytest.raises(ValueError, match="damaged"):
        calls_of(Depth(steps=1, began_ns=b"nothing"))


def test_time_in_no_phase_is_shared_out_over_what_ran_in_it() -> None:
    found = [(1_000, events.DEPTH_BEGIN), (1_100, events.FORWARD_BEGIN), (1_500, events.FORWARD_END),
             (2_100, events.OPTIMIZER_BEGIN), (2_200, events.OPTIMIZER_END), (2_300, events.DEPTH_END)]  # fmt: skip
    log = EventLog(
        t_ns=np.array([t for t, _ in found], dtype="<i8").tobytes(),
        code=np.array([events.code(kind) for _, kind in found], dtype="<i8").tobytes(),
    )
    calls = Calls()
    main, other = calls.track("thread", "1"), calls.track("thread", "2")
    norm, inner = calls.object("op", "aten::norm"), calls.object("op", "aten::pow")
    calls.add(calls.object("op", "aten::mm"), main, 1_200, 200)  # inside the forward pass
    calls.add(norm, main, 1_450, 250)  # 200 of it lie between
    calls.add(inner, main, 1_600, 50)
    calls.add(norm, other, 1_600, 400)
    seen = outside(from_message({"steps": 1, **calls.packed()}), log)
    assert seen is not None
    assert seen.seconds == pytest.approx(800e-9)
    assert seen.operators == [("aten::norm", pytest.approx(0.25))]
    assert seen.python_share == pytest.approx(0.75)
    assert outside(from_message({"steps": 1, **calls.packed()}), EventLog()) is None
