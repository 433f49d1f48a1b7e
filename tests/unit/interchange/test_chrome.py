"""A stored run is written as a trace: its steps, its phases, and what was recorded in depth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pacenote.child import events
from pacenote.child.depth import Calls
from pacenote.depth import from_message
from pacenote.interchange import chrome
from pacenote.records import Depth, Effort, EventLog, Outcome, Status, TrialRecord, TrialSpec


def log(steps: int) -> EventLog:
    """Steps of 1000 ns: data 100, forward 300, backward 400, optimizer 100, and 100 for the rest."""
    found: list[tuple[int, int]] = [(0, events.code(events.RESUME))]
    for at in range(0, 1000 * steps, 1000):
        for kind, begin, end in (
            (events.DATA_BEGIN, 0, 100),
            (events.FORWARD_BEGIN, 100, 400),
            (events.BACKWARD_BEGIN, 450, 850),
            (events.OPTIMIZER_BEGIN, 900, 1000),
        ):
            found += [(at + begin, events.code(kind)), (at + end, events.code(kind + 1))]
    return EventLog(
        t_ns=np.array([t for t, _ in found], dtype="<i8").tobytes(),
        code=np.array([code for _, code in found], dtype="<i8").tobytes(),
        objects=[{"kind": "module", "name": "Net"}],
    )


def record(steps: int, depth: Depth | None = None, **more: Any) -> TrialRecord:
    spec = TrialSpec(workload="train.py", framework="pytorch")
    return TrialRecord(
        id="t", spec=spec, spec_hash=spec.hash(), environment_hash="", machine_id="", replicate=0, version="0",
        started_unix_s=0.0, effort=Effort(), outcome=Outcome(status=Status.FINISHED), events=log(steps), depth=depth,
        **more,
    )  # fmt: skip


def complete(trace: dict[str, Any], category: str) -> list[dict[str, Any]]:
    return [one for one in trace["traceEvents"] if one["ph"] == "X" and one["cat"] == category]


def test_steps_and_phases_are_rows_of_the_process() -> None:
    trace = chrome.trace([record(3)])
    shown = complete(trace, "step")
    assert [one["name"] for one in shown] == ["step 1", "step 2", "step 3"]
    assert [one["dur"] for one in shown] == pytest.approx([1.0] * 3)
    phases = complete(trace, "phase")
    assert [one["name"] for one in phases[:4]] == ["data wait", "forward", "backward", "optimizer"]
    assert phases[1]["ts"] == pytest.approx(0.1)
    assert phases[1]["dur"] == pytest.approx(0.3)
    names = {one["args"]["name"] for one in trace["traceEvents"] if one["name"] == "thread_name"}
    assert names == {"steps", "host"}


def test_only_the_last_steps_are_written_when_asked() -> None:
    trace = chrome.trace([record(10)], last_steps=2)
    assert len(complete(trace, "step")) == 2
    assert len(complete(trace, "phase")) == 8
    assert min(one["ts"] for one in complete(trace, "phase")) == 0.0


def test_ranks_are_processes() -> None:
    trace = chrome.trace([record(2, world_size=2), record(2, rank=1, world_size=2)])
    names = [one["args"]["name"] for one in trace["traceEvents"] if one["name"] == "process_name"]
    assert names == ["train.py (pytorch, cpu) rank 0", "train.py (pytorch, cpu) rank 1"]
    assert {one["pid"] for one in trace["traceEvents"]} == {0, 1}


def test_what_was_recorded_in_depth_has_rows_of_its_own() -> None:
    calls = Calls()
    op = calls.add(calls.object("op", "aten::relu", [[4]]), calls.track("thread", "5"), 1_100, 200)
    calls.add(calls.object("kernel", "relu_kernel"), calls.track("device", "cuda:0 stream 7"), 1_200, 50, op)
    trace = chrome.trace([record(3, from_message({"steps": 1, **calls.packed()}))])
    (shown,) = complete(trace, "op")
    assert (shown["name"], shown["args"]["shapes"]) == ("aten::relu", "4")
    (kernel,) = complete(trace, "kernel")
    assert kernel["args"] == {"launched by": "aten::relu"}
    assert kernel["tid"] != shown["tid"]


def test_a_record_without_events_gives_nothing() -> None:
    assert chrome.trace([record(0)])["traceEvents"] == []
