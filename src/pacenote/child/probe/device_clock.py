"""Marks on an accelerator's own timeline, through the framework's timed events."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from typing import Any

from .. import events

DEVICE_STREAM = events.code(0, grad=False, stream=1)
"""What the code of a mark holds besides the host's: without it the two timelines would be read as one."""


class EventClock:
    """Timed events on the current stream of any accelerator whose framework has them.

    The first mark of a turn is made while the device is idle (the turn before ended with a synchronisation), so it
    ties the device's timeline to the host's: later marks are its host time plus ``elapsed_time`` (milliseconds in both
    frameworks).

    Args:
        create: Makes one event with timing enabled: ``torch.Event`` and ``paddle.device.Event`` have the same methods.
    """

    def __init__(self, create: Callable[[], Any]) -> None:
        self._create = create
        self._free: list[Any] = []
        self._marks: list[tuple[Any, int]] = []
        self._origin_ns = 0

    def mark(self, code: int) -> None:
        """Record an event behind all work queued so far."""
        event = self._free.pop() if self._free else self._create()
        if not self._marks:
            self._origin_ns = time.perf_counter_ns()
        event.record()
        self._marks.append((event, code))

    def drop_last(self) -> None:
        """Take back the latest mark."""
        self._free.append(self._marks.pop()[0])

    def forget(self) -> None:
        """Drop all marks and keep their events for reuse."""
        self._free.extend(event for event, _ in self._marks)
        self._marks.clear()

    def resolve(self) -> tuple[array[int], array[int]]:
        """Wait for the device; return times in host nanoseconds and codes."""
        t_ns: array[int] = array("q")
        codes: array[int] = array("q")
        if self._marks:
            first, last = self._marks[0][0], self._marks[-1][0]
            last.synchronize()
            for event, code in self._marks:
                t_ns.append(self._origin_ns + int(first.elapsed_time(event) * 1e6))
                codes.append(code | DEVICE_STREAM)
        return t_ns, codes


class LateClock:
    """An :class:`EventClock` for a program that runs freely: it starts when a model is seen on the accelerator.

    Nothing here waits for the device but the start itself, once. What is read is what the device has passed by then;
    the rest is read later.

    Args:
        create: Makes one event with timing enabled on a device.
    """

    def __init__(self, create: Callable[[str], Any]) -> None:
        self._create = create
        self._device = ""
        self._free: list[Any] = []
        self._marks: list[tuple[Any, int]] = []
        self._origin: Any = None
        self._origin_ns = 0

    def start(self, device: str) -> None:
        """Tie the device's timeline to the host's; nothing for the CPU, or when that is done."""
        if self._device or device.partition(":")[0] == "cpu":
            return
        self._origin = self._create(device)
        self._origin.record()
        self._origin.synchronize()
        self._origin_ns = time.perf_counter_ns()
        self._device = device

    def mark(self, code: int) -> None:
        """Record an event behind all work queued so far; nothing before the start."""
        if not self._device:
            return
        event = self._free.pop() if self._free else self._create(self._device)
        event.record()
        self._marks.append((event, code))

    def drop_last(self) -> None:
        """Take back the latest mark."""
        if self._marks:
            self._free.append(self._marks.pop()[0])

    def forget(self) -> None:
        """Drop all marks and keep their events for reuse."""
        self._free.extend(event for event, _ in self._marks)
        self._marks.clear()

    def resolve(self) -> tuple[array[int], array[int]]:
        """Return times in host nanoseconds and codes of the marks that the device has passed, and forget those.

        The last of them becomes the origin of the next ones: ``elapsed_time`` is a float32 of milliseconds, whose
        steps are 8 µs after 100 s.
        """
        t_ns: array[int] = array("q")
        codes: array[int] = array("q")
        passed = 0
        while passed < len(self._marks) and self._marks[passed][0].query():
            passed += 1
        for event, code in self._marks[:passed]:
            t_ns.append(self._origin_ns + int(self._origin.elapsed_time(event) * 1e6))
            codes.append(code | DEVICE_STREAM)
        if passed:
            self._free.append(self._origin)
            self._free.extend(event for event, _ in self._marks[: passed - 1])
            self._origin, self._origin_ns = self._marks[passed - 1][0], t_ns[-1]
            del self._marks[:passed]
        return t_ns, codes
