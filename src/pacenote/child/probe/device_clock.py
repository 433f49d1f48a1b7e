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
