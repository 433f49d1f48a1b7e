"""Marks on a device's timeline, with events whose times are scripted."""

from __future__ import annotations

from array import array
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.child import events
from pacenote.child.probe import device_clock
from pacenote.child.probe.device_clock import DEVICE_STREAM, EventClock
from pacenote.records import EventLog
from pacenote.segment import segment


class Device:
    """A device that reaches the n-th recorded event at the n-th scripted time."""

    def __init__(self, *times_ms: float) -> None:
        self.times_ms = list(times_ms)
        self.made = 0
        self.waited_for: list[float] = []

    def create(self) -> Scripted:
        self.made += 1
        return Scripted(self)


class Scripted:
    def __init__(self, device: Device) -> None:
        self.device = device
        self.at_ms = float("nan")

    def record(self) -> None:
        self.at_ms = self.device.times_ms.pop(0)

    def synchronize(self) -> None:
        self.device.waited_for.append(self.at_ms)

    def elapsed_time(self, other: Scripted) -> float:
        return other.at_ms - self.at_ms


def host_codes(codes: array[int]) -> list[int]:
    """What the host appended for each mark; every mark must say that it is the device's."""
    assert all(code >> events.STREAM_SHIFT & events.STREAM_MASK == 1 for code in codes)
    return [code & ~DEVICE_STREAM for code in codes]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The host's clock, which moves only when told."""
    clock = SimpleNamespace(now_ns=1_000_000_000)
    monkeypatch.setattr(device_clock, "time", SimpleNamespace(perf_counter_ns=lambda: clock.now_ns))
    return clock


def test_later_marks_are_told_in_the_hosts_time_of_the_first(host: SimpleNamespace) -> None:
    device = Device(50.0, 50.5, 53.25)
    clock = EventClock(device.create)
    for code in (15, 4, 5):
        clock.mark(code)
        host.now_ns += 77  # the host runs ahead; only its time at the first mark counts
    times, codes = clock.resolve()
    assert list(times) == [1_000_000_000, 1_000_500_000, 1_003_250_000]
    assert host_codes(codes) == [15, 4, 5]


def test_resolving_waits_for_the_last_mark_once(host: SimpleNamespace) -> None:
    device = Device(1.0, 2.0, 9.0)
    clock = EventClock(device.create)
    for code in range(3):
        clock.mark(code)
    clock.resolve()
    assert device.waited_for == [9.0]


def test_without_marks_nothing_is_waited_for(host: SimpleNamespace) -> None:
    device = Device()
    times, codes = EventClock(device.create).resolve()
    assert (list(times), list(codes), device.waited_for) == ([], [], [])


def test_a_mark_taken_back_leaves_nothing_and_its_event_is_used_again(host: SimpleNamespace) -> None:
    device = Device(1.0, 2.0, 4.0)
    clock = EventClock(device.create)
    clock.mark(15)
    clock.mark(2)
    clock.drop_last()
    clock.mark(4)
    times, codes = clock.resolve()
    assert host_codes(codes) == [15, 4]
    assert times[1] - times[0] == 3_000_000
    assert device.made == 2


def test_when_the_first_mark_is_taken_back_the_next_one_is_the_origin(host: SimpleNamespace) -> None:
    device = Device(1.0, 8.0)
    clock = EventClock(device.create)
    clock.mark(2)
    clock.drop_last()
    host.now_ns = 5
    clock.mark(15)
    assert list(clock.resolve()[0]) == [5]


def test_a_new_turn_starts_from_a_new_origin_with_the_old_events(host: SimpleNamespace) -> None:
    device = Device(1.0, 2.0, 100.0, 101.0)
    clock = EventClock(device.create)
    clock.mark(15)
    clock.mark(4)
    clock.forget()
    host.now_ns = 7_000
    clock.mark(15)
    clock.mark(5)
    times, codes = clock.resolve()
    assert list(times) == [7_000, 1_007_000]
    assert host_codes(codes) == [15, 5]
    assert device.made == 2


@given(st.lists(st.sampled_from(["mark", "drop", "forget"]), max_size=60))
def test_events_are_never_lost_nor_used_twice(actions: list[str]) -> None:
    device = Device(*map(float, range(100)))
    clock = EventClock(device.create)
    expected: list[int] = []
    most = 0
    for number, action in enumerate(actions):
        if action == "mark":
            clock.mark(number)
            expected.append(number)
        elif action == "drop" and expected:
            clock.drop_last()
            expected.pop()
        elif action == "forget":
            clock.forget()
            expected.clear()
        most = max(most, len(expected))
    times, codes = clock.resolve()
    assert host_codes(codes) == expected
    assert list(times) == sorted(times)
    assert device.made == most


def test_the_two_timelines_of_a_record_are_read_apart(host: SimpleNamespace) -> None:
    spans = [events.FORWARD_BEGIN, events.FORWARD_END, events.OPTIMIZER_BEGIN, events.OPTIMIZER_END]
    order = [events.code(kind) for kind in (events.RESUME, *spans, *spans)]
    t_ns = array("q", [1_000_000_000 + 1_000_000 * at for at in range(9)])  # the host launches: 1 ms each
    clock = EventClock(Device(*(10.0 * at for at in range(9))).create)  # the device works: 10 ms each
    for code in order:
        clock.mark(code)
    device_t_ns, device_code = clock.resolve()
    pause = array("q", [1_200_000_000]), array("q", [events.code(events.PAUSE)])
    log = EventLog(
        t_ns=(t_ns + pause[0] + device_t_ns).tobytes(), code=(array("q", order) + pause[1] + device_code).tobytes()
    )
    for stream, step_s in ((0, 0.004), (1, 0.040)):
        found = segment(log, stream)
        assert len(found) == 2
        assert found.total_s == pytest.approx([step_s, step_s])
        assert found.turn.tolist() == [0, 0]
        assert found.phases["forward"] == pytest.approx([step_s / 4, step_s / 4])
