"""The recorder that the probe's hooks append to, and the gate at which the measured program waits.

The gate is passed at the end of every step. While the turn lasts it costs one comparison; when the turn is over it
flushes the events to the parent and sleeps on the control pipe, so that at most one measured process runs at a time
and everything that costs time (packing, memory readings) happens where nobody measures.
"""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Callable
from typing import Any, Protocol

from . import events
from .channel import Channel

_NEVER_NS = 1 << 62
LOSSES_KEPT_FIRST = 10
LOSSES_KEPT_EVERY = 10


class Finish(BaseException):
    """Raised at the gate to end the training loop cleanly; not an ``Exception``, so user code does not swallow it."""


class DeviceClock(Protocol):
    """Marks points on an accelerator's own timeline; absent on the CPU, where the host's timeline is the only one."""

    def mark(self, code: int) -> None:
        """Record one point after all work queued so far."""
        ...

    def resolve(self) -> tuple[array[int], array[int]]:
        """Wait for the device, return times (ns on the host's clock) and codes of all marks, and forget them."""
        ...

    def forget(self) -> None:
        """Drop all marks without waiting."""
        ...

    def drop_last(self) -> None:
        """Take back the latest mark."""
        ...


class Recorder:
    """Appends events, counts steps, and holds the gate.

    Args:
        channel: Where turns are announced; ``None`` in benchmarks that have no parent.
        describe_turn: Called while paused; its entries are added to the turn's message.
    """

    def __init__(self, channel: Channel | None, describe_turn: Callable[[], dict[str, Any]] | None = None) -> None:
        self.channel = channel
        self.describe_turn = describe_turn or dict
        self.t_ns: array[int] = array("q")
        self.code: array[int] = array("q")
        self.objects: list[dict[str, Any]] = []
        self.device_clock: DeviceClock | None = None
        self.anchor = "optimizer"  # or "data" in loader mode, "backward" when nothing steps
        self.anchor_index = -1
        self.copied_bytes = 0
        self.step = 0
        self.planted_slowdown_ratio = 1.0
        self.clock: Callable[[], int] = time.perf_counter_ns
        self.stamp: Callable[[int], None] = self._make_stamp()  # appends one event now
        self.wants_loss = True  # whether the loss of this step is one of those kept
        self._ids: dict[tuple[str, int], int] = {}
        self._losses: list[tuple[int, Any]] = []
        self._turn = -1
        self._turn_steps = 0
        self._turn_limit = 0
        self._deadline_ns = 0
        self._step_began_ns = 0
        self._usage: tuple[float, ...] = ()
        self._resumed_ns = 0

    def use_clock(self, clock: Callable[[], int]) -> None:
        """Take the time from elsewhere: the simulated framework has a clock of its own."""
        self.clock = clock
        self.stamp = self._make_stamp()

    def use_device_clock(self, device_clock: DeviceClock) -> None:
        """Mark every event on the device's timeline as well. Before hooks are made: they keep :attr:`stamp`."""
        self.device_clock = device_clock
        self.stamp = self._make_stamp()

    def hot(self) -> tuple[Callable[[int], None], Callable[[int], None], Callable[[], int]]:
        """What hooks on the path of every step append with, as ``add_time(clock()); add_code(code)``.

        Written out in each hook instead of called as :attr:`stamp`, because in a step of 0.25 ms the frames of a dozen
        such calls cost 3 µs (measured). The arrays are emptied in place, never replaced, so the methods stay valid.
        """
        append_code = self.code.append
        if self.device_clock is None:
            return self.t_ns.append, append_code, self.clock
        mark = self.device_clock.mark

        def append_and_mark(code: int) -> None:
            append_code(code)
            mark(code)

        return self.t_ns.append, append_and_mark, self.clock

    def _make_stamp(self) -> Callable[[int], None]:
        add_time, add_code, clock = self.hot()

        def stamp(code: int) -> None:
            add_time(clock())
            add_code(code)

        return stamp

    def index(self, kind: str, owner: object, **facts: Any) -> int:
        """Number an object the first time it is seen; ``facts`` describe it in the log."""
        key = (kind, id(owner))
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = len(self.objects)
            self.objects.append({"kind": kind, "name": type(owner).__name__, **facts})
        return found

    def stamp_at(self, code: int, t_ns: int) -> None:
        """Append one host event that happened at ``t_ns``."""
        self.t_ns.append(t_ns)
        self.code.append(code)

    def keep_loss(self, loss: Any) -> None:
        """Keep a handle on the loss of this step; it is read only while paused, so nothing synchronises."""
        self._losses.append((self.step, loss))

    def passed(self, kind: str, index: int = 0) -> None:
        """Tell the gate that something ended; when it is the anchor, a step is over."""
        if kind != self.anchor or (kind == "optimizer" and index < self.anchor_index):
            return
        self.anchor_index = index
        if self.planted_slowdown_ratio > 1.0 and self.clock is time.perf_counter_ns:
            self._spin()
        now_ns = self.clock()
        self.step += 1
        self.wants_loss = self.step % LOSSES_KEPT_EVERY == 0 or self.step < LOSSES_KEPT_FIRST
        self._turn_steps += 1
        self._step_began_ns = now_ns
        if now_ns >= self._deadline_ns or self._turn_steps >= self._turn_limit:
            self.pause()

    def _spin(self) -> None:
        """Make the step last ``planted_slowdown_ratio`` times as long, by the clock that measures it.

        The event that closed the step is moved behind the delay. Left where it was, the delay would count for the next
        step, and a turn's second step would carry what its cold first one earned (1.50 read as 1.54, measured).
        """
        until_ns = self._step_began_ns + int((self.t_ns[-1] - self._step_began_ns) * self.planted_slowdown_ratio)
        while self.clock() < until_ns:
            continue
        self.t_ns[-1] = self.clock()

    def pause(self) -> None:
        """End the turn: tell the parent what happened, wait for the next command, and start the next turn.

        Raises:
            Finish: When the parent asks the program to end.
        """
        if self.channel is None:
            self._deadline_ns = _NEVER_NS
            self._turn_limit = _NEVER_NS
            return
        if self._turn >= 0:
            self._end_turn(self.channel)
        command = self.channel.receive()
        if command is None:
            os._exit(0)  # the parent is gone: no orphan
        if command["cmd"] == "finish":
            raise Finish
        self._begin_turn(command)

    def _end_turn(self, channel: Channel) -> None:
        device = self.device_clock.resolve() if self.device_clock is not None else None
        paused_ns = self.clock()
        self.stamp_at(events.code(events.PAUSE), paused_ns)
        used = tuple(after - before for before, after in zip(self._usage, usage()))
        message: dict[str, Any] = {
            "msg": "turn",
            "turn": self._turn,
            "steps": self._turn_steps,
            "wall_s": (paused_ns - self._resumed_ns) / 1e9,
            "t_ns": events.pack(self.t_ns),
            "code": events.pack(self.code),
            "losses": self._read_losses(),
            "copied_bytes": self.copied_bytes,
            **dict(zip(USAGE_NAMES, used)),
            **self.describe_turn(),
        }
        if device is not None:
            message["device_t_ns"], message["device_code"] = events.pack(device[0]), events.pack(device[1])
        self.copied_bytes = 0
        channel.send(message)

    def _begin_turn(self, command: dict[str, Any]) -> None:
        del self.t_ns[:]
        del self.code[:]
        if self.device_clock is not None:
            self.device_clock.forget()
        if self._turn < 0:
            self._losses.clear()
            self.step = 0
            self.wants_loss = True
            self.copied_bytes = 0
        self._turn = int(command["turn"])
        self._turn_steps = 0
        self._turn_limit = int(command.get("steps") or _NEVER_NS)
        self._usage = usage()
        self._resumed_ns = self._step_began_ns = self.clock()
        seconds = command.get("seconds")
        self._deadline_ns = _NEVER_NS if seconds is None else self._resumed_ns + int(seconds * 1e9)
        self.stamp(events.code(events.RESUME))

    def _read_losses(self) -> list[tuple[int, float]]:
        read = [(step, float(loss)) for step, loss in self._losses]
        self._losses.clear()
        return read


USAGE_NAMES = ("cpu_s", "minor_faults", "major_faults", "voluntary_switches", "involuntary_switches")


def usage() -> tuple[float, ...]:
    """CPU seconds, page faults and context switches of this process so far; empty without getrusage."""
    try:
        import resource
    except ImportError:  # Windows
        return (time.process_time(),)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime, used.ru_minflt, used.ru_majflt, used.ru_nvcsw, used.ru_nivcsw)


class PatchSet:
    """Attributes replaced on framework classes, so that all of them can be put back."""

    def __init__(self) -> None:
        self.installed = True
        self._patches: list[tuple[Any, str, Any, Any, bool]] = []

    def set(self, owner: Any, name: str, replacement: Any) -> None:
        """Replace ``owner.name`` now."""
        own = name in vars(owner)
        self._patches.append((owner, name, getattr(owner, name), replacement, own))
        setattr(owner, name, replacement)

    def unset(self, owner: Any, name: str) -> None:
        """Put one original back and forget its replacements, the latest first."""
        for patch in [found for found in reversed(self._patches) if found[0] is owner and found[1] == name]:
            if self.installed:
                self._restore(patch)
            self._patches.remove(patch)

    def off(self) -> None:
        """Put every original back; nothing if that is done."""
        if not self.installed:
            return
        self.installed = False
        for patch in reversed(self._patches):
            self._restore(patch)

    @staticmethod
    def _restore(patch: tuple[Any, str, Any, Any, bool]) -> None:
        owner, name, original, _, own = patch
        if own:
            setattr(owner, name, original)
        else:
            delattr(owner, name)

    def on(self) -> None:
        """Install every replacement again after :meth:`off`."""
        if self.installed:
            return
        self.installed = True
        for owner, name, _, replacement, _ in self._patches:
            setattr(owner, name, replacement)
