"""When steps are recorded in depth, and that nothing of it can hurt the script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pacenote.child import events, spool
from pacenote.child.depth import AFTER_NS, AFTER_STEPS, PATIENCE_NS, STEPS, TRIES, Calls, Depth
from pacenote.child.freerun import FreeRecorder, Stop
from pacenote.child.spool import SpoolWriter

NEVER = 1 << 62


class FakeProfiler:
    """Stands for a framework's profiler and notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.free = True
        self.broken = ""

    def is_free(self) -> bool:
        return self.free

    def start(self) -> None:
        self.told.append("start")
        if self.broken == "start":
            raise RuntimeError("no profiler here")

    def stop(self) -> Calls:
        self.told.append("stop")
        if self.broken == "stop":
            raise RuntimeError("nothing was recorded")
        calls = Calls()
        calls.add(calls.object("op", "aten::relu"), calls.track("thread", "1"), 1, 2)
        return calls

    def give_up(self) -> None:
        self.told.append("give up")


@pytest.fixture
def recorder(tmp_path: Path) -> FreeRecorder:
    return FreeRecorder(SpoolWriter(str(tmp_path / f"1{spool.SUFFIX}")), Stop(str(tmp_path)))


@pytest.fixture
def profiler() -> FakeProfiler:
    return FakeProfiler()


def messages(recorder: FreeRecorder) -> list[dict[str, Any]]:
    path = Path(recorder.spool.path)
    if not path.exists():
        return []
    return [body for kind, body, _ in spool.read(path.read_bytes()) if kind == spool.JSON and body["msg"] == "depth"]


def kinds(recorder: FreeRecorder) -> list[int]:
    return [code & events.KIND_MASK for code in recorder.code]


def test_it_waits_until_the_other_steps_are_known(recorder: FreeRecorder, profiler: FakeProfiler) -> None:
    depth = Depth(recorder, profiler)
    depth.passed(1, 0, NEVER, NEVER)
    depth.passed(AFTER_STEPS - 1, AFTER_NS + 1, NEVER, NEVER)
    depth.passed(AFTER_STEPS, AFTER_NS - 1, NEVER, NEVER)
    assert profiler.told == []
    depth.passed(AFTER_STEPS, AFTER_NS, NEVER, NEVER)
    assert profiler.told == ["start"]
    assert depth.is_running


def test_it_ends_after_its_steps_and_writes(recorder: FreeRecorder, profiler: FakeProfiler) -> None:
    depth = Depth(recorder, profiler)
    depth.passed(1, 0, NEVER, NEVER)
    for step in range(100, 101 + STEPS):
        depth.passed(step, AFTER_NS, NEVER, NEVER)
    assert profiler.told == ["start", "stop"]
    (message,) = messages(recorder)
    assert message["steps"] == STEPS
    assert message["objects"] == [{"kind": "op", "name": "aten::relu"}]
    assert [code & events.KIND_MASK for code in recorder._code] == [  # as they were told, not by the fake times
        *(events.AWAY_BEGIN, events.AWAY_END, events.DEPTH_BEGIN),
        *(events.DEPTH_END, events.AWAY_BEGIN, events.AWAY_END),
    ]
    depth.passed(1_000, 10 * AFTER_NS, NEVER, NEVER)
    assert profiler.told == ["start", "stop"]


def test_a_run_of_known_length_is_recorded_at_its_end(recorder: FreeRecorder, profiler: FakeProfiler) -> None:
    depth = Depth(recorder, profiler)
    for step in range(1, 11):
        depth.passed(step, step, 10, NEVER)
        assert depth.is_running == (6 <= step < 9)
    assert profiler.told == ["start", "stop"]


def test_a_run_too_short_for_it_is_left_alone(recorder: FreeRecorder, profiler: FakeProfiler) -> None:
    depth = Depth(recorder, profiler)
    depth.passed(1, 1, 2, NEVER)
    depth.passed(2, 2, 2, NEVER)
    assert profiler.told == []


def test_long_steps_are_recorded_after_a_while(recorder: FreeRecorder, profiler: FakeProfiler) -> None:
    depth = Depth(recorder, profiler)
    depth.passed(1, 0, NEVER, NEVER)
    depth.passed(4, PATIENCE_NS, NEVER, NEVER)
    assert profiler.told == ["start"]


def test_nothing_starts_while_the_script_profiles_itself(recorder: FreeRecorder, profiler: FakeProfiler) -> None:
    depth = Depth(recorder, profiler)
    profiler.free = False
    depth.passed(1, 0, NEVER, NEVER)
    depth.passed(100, AFTER_NS, NEVER, NEVER)
    assert profiler.told == []
    profiler.free = True
    depth.passed(101, AFTER_NS, NEVER, NEVER)
    assert profiler.told == ["start"]


def test_it_gives_way_and_tries_again_a_few_times(recorder: FreeRecorder, profiler: FakeProfiler) -> None:
    depth = Depth(recorder, profiler)
    depth.passed(1, 0, NEVER, NEVER)
    for at in range(TRIES + 2):
        depth.passed(100 + at, AFTER_NS, NEVER, NEVER)
        depth.cancel()
    assert profiler.told == ["start", "give up"] * TRIES
    assert messages(recorder) == []
    depth.cancel()  # nothing runs
    assert kinds(recorder).count(events.DEPTH_BEGIN) == kinds(recorder).count(events.DEPTH_END) == TRIES


@pytest.mark.parametrize("broken", ["start", "stop"])
def test_a_profiler_that_fails_is_told_of_and_nothing_else(
    broken: str, recorder: FreeRecorder, profiler: FakeProfiler
) -> None:
    profiler.broken = broken
    depth = Depth(recorder, profiler)
    depth.passed(1, 0, NEVER, NEVER)
    for step in range(100, 110):
        depth.passed(step, AFTER_NS, NEVER, NEVER)
    (message,) = messages(recorder)
    assert "RuntimeError" in message["failure"]
    assert depth.is_over
    found = kinds(recorder)
    assert found.count(events.AWAY_BEGIN) == found.count(events.AWAY_END)
    assert found.count(events.DEPTH_BEGIN) == found.count(events.DEPTH_END)


def test_every_step_is_told_while_steps_are_recorded(recorder: FreeRecorder, profiler: FakeProfiler) -> None:
    recorder.depth = Depth(recorder, profiler)
    recorder.depth.is_running = True
    recorder.arm()
    assert recorder.gate[0] == 0
    recorder.depth.is_running = False
    recorder.arm()
    assert recorder.gate[0] > 0


def test_the_end_of_the_script_ends_the_profiler(recorder: FreeRecorder, profiler: FakeProfiler) -> None:
    recorder.depth = Depth(recorder, profiler)
    recorder.depth.passed(1, 0, NEVER, NEVER)
    recorder.depth.passed(100, AFTER_NS, NEVER, NEVER)
    recorder.end()
    assert profiler.told == ["start", "give up"]
