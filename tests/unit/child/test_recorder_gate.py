"""The gate over many turns: nothing is lost, planted time is spent, and a parent that goes ends the process."""

from __future__ import annotations

import builtins
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from ending import ended
from hypothesis import given
from hypothesis import strategies as st

from pacenote.child import events
from pacenote.child import recorder as module
from pacenote.child.recorder import USAGE_NAMES, Finish, PatchSet, Recorder, usage

MS = 1_000_000


class Parent:
    """Hands out turns of these many steps, then says finish, or hangs up."""

    def __init__(self, *steps: int, hangs_up: bool = False) -> None:
        self.commands: list[dict[str, Any] | None] = [
            {"cmd": "turn", "turn": number, "seconds": None, "steps": count} for number, count in enumerate(steps)
        ]
        self.commands.append(None if hangs_up else {"cmd": "finish"})
        self.sent: list[dict[str, Any]] = []

    def receive(self) -> dict[str, Any] | None:
        return self.commands.pop(0)

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)


class Clock:
    def __init__(self, step_ns: int = 0) -> None:
        self.now_ns, self.step_ns = 0, step_ns

    def __call__(self) -> int:
        self.now_ns += self.step_ns
        return self.now_ns


def make(parent: Parent, clock: Clock, **options: Any) -> Recorder:
    recorder = Recorder(parent, **options)  # type: ignore[arg-type]
    recorder.use_clock(clock)
    return recorder


def train(recorder: Recorder, step: Callable[[], None] = lambda: None) -> None:
    """Step until the parent says finish."""
    with pytest.raises(Finish):
        _for_ever(recorder, step)


def _for_ever(recorder: Recorder, step: Callable[[], None]) -> None:
    while True:
        step()
        ended(recorder)


@given(steps=st.lists(st.integers(1, 7), min_size=1, max_size=5), spans=st.integers(0, 3))
def test_every_event_of_every_turn_reaches_the_parent_once(steps: list[int], spans: int) -> None:
    parent, clock = Parent(*steps), Clock(step_ns=7)
    recorder = make(parent, clock)
    recorder.pause()

    def step() -> None:
        for _ in range(spans):
            recorder.stamp(events.code(events.FORWARD_BEGIN))
            recorder.stamp(events.code(events.FORWARD_END))

    train(recorder, step)
    assert [message["steps"] for message in parent.sent] == steps
    for message, count in zip(parent.sent, steps, strict=True):
        kinds = [code & events.KIND_MASK for code in events.unpack(message["code"])]
        times = list(events.unpack(message["t_ns"]))
        one = [*[events.FORWARD_BEGIN, events.FORWARD_END] * spans, events.OPTIMIZER_BEGIN, events.OPTIMIZER_END]
        in_order = [kind for _, kind in sorted(zip(times, kinds, strict=True), key=lambda event: event[0])]
        assert in_order == [events.RESUME, *one * count, events.PAUSE]
    assert recorder.step == sum(steps)


def test_a_loss_is_told_with_the_step_over_all_turns() -> None:
    parent = Parent(4, 4, 8)
    recorder = make(parent, Clock())
    recorder.pause()

    def step() -> None:
        if recorder.wants_loss():
            recorder.keep_loss(recorder.step / 2)

    train(recorder, step)
    told = [loss for message in parent.sent for loss in message["losses"]]
    assert told == [(step, step / 2) for step in [*range(10), 10]]


def test_what_was_kept_while_building_is_forgotten_at_the_first_turn() -> None:
    parent = Parent(1)
    recorder = make(parent, Clock())
    recorder.keep_loss(9.0)
    recorder.copied_bytes = 99
    ended(recorder, "backward")
    recorder.pause()
    with pytest.raises(Finish):
        ended(recorder)
    assert (parent.sent[0]["losses"], parent.sent[0]["copied_bytes"]) == ([], 0)


def test_copied_bytes_are_told_per_turn() -> None:
    parent = Parent(1, 1, 1)
    recorder = make(parent, Clock())
    recorder.pause()
    copies = iter((5, 0, 7))

    def step() -> None:
        recorder.copied_bytes += next(copies)

    train(recorder, step)
    assert [message["copied_bytes"] for message in parent.sent] == [5, 0, 7]


def test_what_describes_the_turn_is_asked_once_a_turn_while_paused() -> None:
    asked: list[int] = []
    parent = Parent(2, 3)

    def describe() -> dict[str, Any]:
        asked.append(recorder.step)
        return {"device_memory": {"peak_bytes": recorder.step}}

    recorder = make(parent, Clock(), describe_turn=describe)
    recorder.pause()
    train(recorder)
    assert asked == [2, 5]
    assert [message["device_memory"]["peak_bytes"] for message in parent.sent] == [2, 5]


def test_every_turn_says_what_the_process_used() -> None:
    parent = Parent(1)
    recorder = make(parent, Clock())
    recorder.pause()
    with pytest.raises(Finish):
        ended(recorder)
    assert set(USAGE_NAMES) <= set(parent.sent[0])
    assert all(parent.sent[0][name] >= 0 for name in USAGE_NAMES)


def test_a_parent_that_hangs_up_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    class Exit(BaseException):
        pass

    def leave(code: int) -> None:
        raise Exit(code)

    monkeypatch.setattr(module.os, "_exit", leave)
    recorder = make(Parent(1, hangs_up=True), Clock())
    recorder.pause()
    with pytest.raises(Exit, match="0"):
        ended(recorder)


def test_without_a_parent_the_gate_stays_open() -> None:
    recorder = Recorder(None)
    recorder.pause()
    for _ in range(10_000):
        ended(recorder)
    assert recorder.step == 10_000


def test_finish_is_not_swallowed_by_what_user_code_catches() -> None:
    recorder = make(Parent(1), Clock())
    recorder.pause()
    careless = suppress(Exception)  # as user code does
    with pytest.raises(Finish), careless:
        ended(recorder)


class TestPlantedSlowdown:
    @pytest.mark.parametrize("ratio", [1.0, 1.5, 3.0])
    def test_each_step_is_spun_to_its_length(self, ratio: float, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = Clock(step_ns=1000)
        monkeypatch.setattr(module.time, "perf_counter_ns", clock)
        recorder = Recorder(Parent(5))  # type: ignore[arg-type]
        recorder.planted_slowdown_ratio = ratio
        recorder.pause()
        for _ in range(4):
            began_ns = recorder._step_began_ns
            clock.now_ns = began_ns + 10 * MS
            recorder.stamp(events.code(events.OPTIMIZER_END))
            ended(recorder)
            assert recorder._step_began_ns - began_ns == pytest.approx(10 * MS * ratio, rel=0.001)

    def test_the_delay_lies_inside_the_step_that_earned_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = Clock(step_ns=1000)
        monkeypatch.setattr(module.time, "perf_counter_ns", clock)
        recorder = Recorder(Parent(5))  # type: ignore[arg-type]
        recorder.planted_slowdown_ratio = 1.5
        recorder.pause()
        lengths_ns = []
        for work_ns in (20 * MS, 10 * MS, 10 * MS):
            began_ns = recorder._step_began_ns
            clock.now_ns = began_ns + work_ns
            recorder.stamp(events.code(events.OPTIMIZER_END))
            ended(recorder)
            lengths_ns.append(recorder.t_ns[-1] - began_ns)
        assert lengths_ns == pytest.approx([30 * MS, 15 * MS, 15 * MS], rel=0.001)

    def test_on_a_virtual_clock_nothing_spins(self) -> None:
        clock = Clock()
        recorder = make(Parent(5), clock)
        recorder.planted_slowdown_ratio = 2.0
        recorder.pause()
        clock.now_ns = 10 * MS
        ended(recorder)  # would spin for ever: this clock stands still
        assert clock.now_ns == 10 * MS


class TestUsage:
    def test_cpu_time_never_goes_back(self) -> None:
        before = usage()
        sum(range(1000))
        assert all(after >= earlier for earlier, after in zip(before, usage(), strict=True))

    def test_without_getrusage_there_is_cpu_time_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real = builtins.__import__

        def absent(name: str, *rest: Any) -> Any:
            if name == "resource":
                raise ImportError(name)
            return real(name, *rest)

        monkeypatch.delitem(sys.modules, "resource", raising=False)
        monkeypatch.setattr(builtins, "__import__", absent)
        monkeypatch.setattr(time, "process_time", lambda: 2.5)
        assert usage() == (2.5,)


@given(st.lists(st.sampled_from(["off", "on", "set", "unset"]), max_size=12))
def test_whatever_is_toggled_off_restores_the_original(actions: list[str]) -> None:
    class Thing:
        def method(self) -> str:
            return "original"

    patches = PatchSet()
    replaced = False
    for action in actions:
        if action == "set" and patches.installed:
            patches.set(Thing, "method", lambda self: "replaced")
            replaced = True
        elif action == "unset":
            patches.unset(Thing, "method")
            replaced = False
        elif action == "off":
            patches.off()
            assert Thing().method() == "original"
        elif action == "on":
            patches.on()
        if patches.installed:
            assert Thing().method() == ("replaced" if replaced else "original")
    patches.off()
    assert Thing().method() == "original"
