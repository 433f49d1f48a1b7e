from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ending import ended

from pacenote.child import events, freerun
from pacenote.child.freerun import FreeRecorder, Stop
from pacenote.child.spool import SpoolWriter
from pacenote.engines.spool import Attached

MS = 1_000_000


class Clock:
    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def clock() -> Clock:
    return Clock()


Maker = Callable[..., FreeRecorder]


@pytest.fixture
def make(tmp_path: Path, clock: Clock) -> Maker:
    def made(stop: Stop | None = None) -> FreeRecorder:
        recorder = FreeRecorder(SpoolWriter(str(tmp_path / "1.spool")), stop or Stop(str(tmp_path)))
        recorder.use_clock(clock)
        return recorder

    return made


def read(tmp_path: Path) -> Attached:
    attached = Attached(tmp_path / "1.spool")
    attached.read()
    assert not attached.broken
    return attached


def step(recorder: FreeRecorder, clock: Clock, index: int = 0, *, ms: int = 10) -> None:
    clock.now_ns += ms * MS
    ended(recorder, "optimizer", index)


def test_steps_are_those_of_the_rarest_optimizer(make: Maker, clock: Clock) -> None:
    recorder = make()
    for _ in range(4):
        for _ in range(3):
            step(recorder, clock, 0)
        step(recorder, clock, 1)
    assert 4 <= recorder.step <= 4 + 3  # the first ones counted before the rare one was known


def test_an_optimizer_that_is_done_with_does_not_hold_back_the_count(make: Maker, clock: Clock) -> None:
    recorder = make()
    for _ in range(3):
        step(recorder, clock, 0)
    for _ in range(200):
        step(recorder, clock, 1)
    before = recorder.step
    step(recorder, clock, 1)
    assert recorder.step == before + 1


def test_backward_passes_count_until_an_optimizer_steps(make: Maker, clock: Clock) -> None:
    recorder = make()
    for _ in range(5):
        ended(recorder, "backward")
    assert recorder.step == 5
    step(recorder, clock)
    ended(recorder, "backward")
    assert recorder.step == 1


def test_events_are_written_now_and_then_and_the_time_is_marked_as_ours(
    make: Maker, clock: Clock, tmp_path: Path
) -> None:
    recorder = make()
    for _ in range(60):  # 0.6 s
        step(recorder, clock)
    recorder.end()
    seen = read(tmp_path)
    assert len(seen.parts) >= 3
    kinds = [code & events.KIND_MASK for code in memoryview(seen.log().code).cast("q")]
    assert kinds.count(events.OPTIMIZER_END) == 60
    assert kinds.count(events.AWAY_BEGIN) == kinds.count(events.AWAY_END) + 1  # the last one was never closed
    assert seen.end["step"] == 60


def test_everything_is_written_once(make: Maker, clock: Clock, tmp_path: Path) -> None:
    recorder = make()
    for _ in range(100):
        step(recorder, clock)
    recorder.end()
    recorder.end()
    codes = memoryview(read(tmp_path).log().code).cast("q")
    assert [code & events.KIND_MASK for code in codes].count(events.OPTIMIZER_END) == 100


def test_many_events_are_written_before_the_time(make: Maker, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freerun, "SPANS_HELD", 60)
    recorder = make()
    step(recorder, clock)  # the first pass writes: nothing has been yet
    for _ in range(15):
        step(recorder, clock, ms=1)
    assert len(recorder.code) < 45


class TestStop:
    def test_after_so_many_steps_the_script_ends(self, make: Maker, clock: Clock, tmp_path: Path) -> None:
        recorder = make(Stop(str(tmp_path), steps=3))
        step(recorder, clock)
        step(recorder, clock)
        with pytest.raises(SystemExit) as ended:
            step(recorder, clock)
        assert ended.value.code == 0
        assert read(tmp_path).stopped

    def test_after_so_many_seconds_since_the_first_step(self, make: Maker, clock: Clock, tmp_path: Path) -> None:
        clock.now_ns = 1000 * MS
        recorder = make(Stop(str(tmp_path), seconds=0.1))
        for _ in range(10):
            step(recorder, clock)
        with pytest.raises(SystemExit):
            step(recorder, clock)
        assert recorder.step == 11

    def test_a_script_that_swallows_it_is_asked_three_times(self, make: Maker, clock: Clock, tmp_path: Path) -> None:
        recorder = make(Stop(str(tmp_path), steps=1))
        asked = 0
        for _ in range(10):
            try:
                step(recorder, clock)
            except SystemExit:
                asked += 1
        assert asked == freerun.STOP_TRIES

    def test_ranks_end_at_the_same_step(self, tmp_path: Path) -> None:
        first, second = (Stop(str(tmp_path), seconds=1.0, together=lambda: True) for _ in range(2))
        for stop in (first, second):
            stop.begin(0)
        assert not first.is_due(10, 10**9)
        assert not second.is_due(11, 2 * 10**9)
        assert first.last_step == second.last_step == 12
        assert first.is_due(12, 10**9)

    def test_a_word_that_is_just_being_written_is_read_after_the_next_step(self, tmp_path: Path) -> None:
        (tmp_path / "last-step").write_text("")
        stop = Stop(str(tmp_path), seconds=0.0, together=lambda: True)
        stop.begin(0)
        assert not stop.is_due(5, 1)
        (tmp_path / "last-step").write_text("6")
        assert not stop.is_due(5, 1)
        assert stop.is_due(6, 1)


def test_a_forked_process_leaves_a_file_of_its_own(make: Maker, clock: Clock, tmp_path: Path) -> None:
    recorder = make()
    recorder.objects.append({"kind": "optimizer"})
    step(recorder, clock)
    recorder.forked(SpoolWriter(str(tmp_path / "2.spool")))
    recorder.opening = {"msg": "hello", "pid": 2}
    assert not (tmp_path / "2.spool").exists()  # it may never train
    step(recorder, clock)
    recorder.end()
    child = Attached(tmp_path / "2.spool")
    child.read()
    assert (child.pid, child.objects, child.end["step"]) == (2, [{"kind": "optimizer"}], 1)
