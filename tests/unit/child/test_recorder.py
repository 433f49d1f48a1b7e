"""The recorder and its gate, with a scripted parent and a fake clock."""

from __future__ import annotations

from typing import Any

import pytest
from ending import ended

from pacenote.child import events
from pacenote.child.recorder import Finish, PatchSet, Recorder

MS = 1_000_000


class ScriptedParent:
    """Stands where the channel stands: hands out commands, keeps the answers."""

    def __init__(self, *commands: dict[str, Any]) -> None:
        self.commands = list(commands)
        self.sent: list[dict[str, Any]] = []

    def receive(self) -> dict[str, Any] | None:
        return self.commands.pop(0)

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)


class Clock:
    """A clock that only moves when told."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


def make(*commands: dict[str, Any]) -> tuple[Recorder, ScriptedParent, Clock]:
    parent, clock = ScriptedParent(*commands), Clock()
    recorder = Recorder(parent)  # type: ignore[arg-type]
    recorder.use_clock(clock)
    return recorder, parent, clock


def turn(number: int, seconds: float | None = None, steps: int | None = None) -> dict[str, Any]:
    return {"cmd": "turn", "turn": number, "seconds": seconds, "steps": steps}


def test_a_turn_ends_at_the_first_step_that_ends_after_its_time() -> None:
    recorder, parent, clock = make(turn(0, seconds=0.025), {"cmd": "finish"})
    recorder.pause()
    for _ in range(2):
        clock.now_ns += 10 * MS
        ended(recorder)
    assert parent.sent == []
    clock.now_ns += 10 * MS
    with pytest.raises(Finish):
        ended(recorder)
    assert parent.sent[0]["steps"] == 3
    assert parent.sent[0]["wall_s"] == pytest.approx(0.030)


def test_a_turn_ends_after_its_steps() -> None:
    recorder, parent, clock = make(turn(0, steps=2), turn(1, steps=1), {"cmd": "finish"})
    recorder.pause()
    clock.now_ns += MS
    ended(recorder)
    ended(recorder)
    with pytest.raises(Finish):
        ended(recorder)
    assert [message["steps"] for message in parent.sent] == [2, 1]
    assert [message["turn"] for message in parent.sent] == [0, 1]


def test_the_log_of_a_turn_runs_from_resume_to_pause() -> None:
    recorder, parent, clock = make(turn(0, steps=1), {"cmd": "finish"})
    recorder.stamp(events.code(events.FORWARD_BEGIN))  # before the first turn: building, not training
    clock.now_ns = 5 * MS
    recorder.pause()
    clock.now_ns = 7 * MS
    recorder.stamp(events.code(events.FORWARD_BEGIN))
    with pytest.raises(Finish):
        ended(recorder)
    kinds = [code & events.KIND_MASK for code in events.unpack(parent.sent[0]["code"])]
    times = list(events.unpack(parent.sent[0]["t_ns"]))
    step = [events.OPTIMIZER_BEGIN, events.OPTIMIZER_END]
    assert sorted(kinds) == [events.FORWARD_BEGIN, *step, events.PAUSE, events.RESUME]
    assert sorted(times) == [5 * MS, *[7 * MS] * 4]


def test_only_the_last_of_several_optimizers_closes_a_step() -> None:
    recorder, _, _ = make(turn(0))
    recorder.pause()
    for _ in range(3):
        ended(recorder, "optimizer", 0)
        ended(recorder, "optimizer", 1)
    assert recorder.step == 3


def test_other_kinds_do_not_close_a_step_but_data_does_in_loader_mode() -> None:
    recorder, _, _ = make(turn(0))
    recorder.pause()
    ended(recorder, "backward")
    ended(recorder, "data")
    assert recorder.step == 0
    recorder.anchor = "data"
    recorder.arm()
    ended(recorder, "data")
    assert recorder.step == 1


def test_losses_are_read_only_while_paused() -> None:
    read = []

    class Loss(float):
        def __float__(self) -> float:
            read.append(True)
            return 2.5

    recorder, parent, _ = make(turn(0, steps=2), {"cmd": "finish"})
    recorder.pause()
    assert recorder.wants_loss
    recorder.keep_loss(Loss(1))
    ended(recorder)
    assert read == []
    with pytest.raises(Finish):
        ended(recorder)
    assert parent.sent[0]["losses"] == [(0, 2.5)]


def test_a_device_clock_is_marked_with_every_event_and_sent_apart() -> None:
    class DeviceClock:
        def __init__(self) -> None:
            self.codes: list[int] = []

        def mark(self, code: int) -> None:
            self.codes.append(code)

        def forget(self) -> None:
            self.codes.clear()

        def drop_last(self) -> None:
            self.codes.pop()

        def resolve(self) -> Any:
            from array import array

            return array("q", range(len(self.codes))), array("q", self.codes)

    recorder, parent, _ = make(turn(0, steps=1), {"cmd": "finish"})
    recorder.use_device_clock(DeviceClock())
    recorder.pause()
    recorder.stamp(events.code(events.BACKWARD_BEGIN))
    with pytest.raises(Finish):
        ended(recorder)
    marked = [code & events.KIND_MASK for code in events.unpack(parent.sent[0]["device_code"])]
    assert marked == [events.RESUME, events.BACKWARD_BEGIN]


def test_objects_are_numbered_once() -> None:
    recorder, _, _ = make()
    first, second = object(), object()
    assert recorder.index("optimizer", first) == 0
    assert recorder.index("optimizer", second) == 1
    assert recorder.index("optimizer", first) == 0
    assert recorder.objects[0] == {"kind": "optimizer", "name": "object"}


class TestPatchSet:
    def test_off_restores_what_was_there_and_what_was_inherited(self) -> None:
        class Base:
            def inherited(self) -> str:
                return "base"

        class Derived(Base):
            def own(self) -> str:
                return "derived"

        patches = PatchSet()
        patches.set(Derived, "own", lambda self: "patched")
        patches.set(Derived, "inherited", lambda self: "patched")
        assert (Derived().own(), Derived().inherited()) == ("patched", "patched")
        patches.off()
        assert (Derived().own(), Derived().inherited()) == ("derived", "base")
        assert "inherited" not in vars(Derived)
        patches.on()
        assert (Derived().own(), Derived().inherited()) == ("patched", "patched")

    def test_unset_forgets_one(self) -> None:
        class Thing:
            value = 1

        patches = PatchSet()
        patches.set(Thing, "value", 2)
        patches.unset(Thing, "value")
        assert Thing.value == 1
        patches.on()
        assert Thing.value == 1
