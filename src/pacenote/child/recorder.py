"""The recorder that the probe's hooks append to, and the gate at which the measured program waits.

At the end of every step a hook compares the time with :attr:`Recorder.gate`; only from then on it calls
:meth:`Recorder.passed`. Steps are counted afterwards, from what was recorded. When the turn is over it
flushes the events to the parent and sleeps on the control pipe, so that at most one measured process runs at a time
and everything that costs time (packing, memory readings) happens where nobody measures.
"""

from __future__ import annotations

import itertools
import os
import time
from array import array
from collections.abc import Callable, Sequence
from typing import Any, Optional, Protocol

from . import events
from .channel import Channel

_NEVER_NS = 1 << 62
Clock = Callable[[], int]
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
        self._t_ns: array[int] = array("q")
        self._code: array[int] = array("q")
        self._spans: list[int] = []  # code, begin and end of each span, one after the other
        self.objects: list[dict[str, Any]] = []
        self.device_clock: DeviceClock | None = None
        self.anchor = "optimizer"  # or "data" in loader mode, "backward" when nothing steps
        self.anchor_index = -1
        self.copied_bytes = 0
        self._steps = 0  # counted so far
        self.planted_slowdown_ratio = 1.0
        self.clock: Callable[[], int] = time.perf_counter_ns
        self.stamp: Callable[[int], None] = self._make_stamp()  # appends one event now
        self.gate = [0]  # time from which the end of a step is to be told; a cell that hooks hold
        self.each_step: list[Callable[[], None]] = []  # called at the end of every optimizer's step while not empty
        # Whether the loss of this backward pass is one of those kept: the first ten, then every tenth.
        every = (True, *[False] * (LOSSES_KEPT_EVERY - 1))
        self.wants_loss = itertools.chain(itertools.repeat(True, LOSSES_KEPT_FIRST), itertools.cycle(every)).__next__
        self._ids: dict[tuple[str, int], int] = {}
        self._losses: list[tuple[int, Any]] = []
        self._turn = -1
        self._turn_steps = 0  # told of in this turn
        self._turn_limit = _NEVER_NS
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

    def hot(self) -> tuple[Callable[[tuple[int, int, int]], None], Clock, Optional[Callable[[int], None]]]:
        """What hooks on the path of every step record a span with: ``add((code, began_ns, clock()))``, clock, mark.

        One call at the end of a span instead of four: beside a training step the hooks' code and data are out of the
        caches, and each thing touched costs (12 events of a 0.25 ms step: 15.2 µs with four, measured on one Xeon). The
        list is flat and emptied in place, so the method stays valid and nothing is made that the garbage collector
        follows. ``mark(code)`` is ``None`` on the CPU; on an accelerator it is to be called at both ends.
        """
        return self._spans.extend, self.clock, None if self.device_clock is None else self.device_clock.mark

    def _make_stamp(self) -> Callable[[int], None]:
        add_time, add_code, clock = self._t_ns.append, self._code.append, self.clock
        if self.device_clock is None:

            def stamp(code: int) -> None:
                add_time(clock())
                add_code(code)

            return stamp
        mark = self.device_clock.mark

        def stamp_and_mark(code: int) -> None:
            add_time(clock())
            add_code(code)
            mark(code)

        return stamp_and_mark

    def settle(self) -> None:
        """Turn the spans since the last time into events, a begin and an end each; not in order of time."""
        spans = array("q", self._spans)
        del self._spans[: len(spans)]  # another thread may be adding one
        begins = spans[::3]
        self._code.extend(begins)
        self._t_ns.extend(spans[1::3])
        self._code.extend(array("q", [code + 1 for code in begins]))
        self._t_ns.extend(spans[2::3])

    def ordered(self) -> tuple[list[int], list[int]]:
        """Times and codes of everything that is held, in order of time."""
        self.settle()
        order = sorted(range(len(self._t_ns)), key=self._t_ns.__getitem__)
        return [self._t_ns[at] for at in order], [self._code[at] for at in order]

    @property
    def step(self) -> int:
        """Steps that have ended so far, over all turns."""
        return self._steps + self._pending()

    def _pending(self) -> int:
        """Steps since the events were cleared: those that were told, where nothing recorded shows any."""
        shown = 0 if self.anchor == "data" else self._steps_in([*self._code, *self._spans[::3]])
        return shown or self._turn_steps

    @property
    def code(self) -> list[int]:
        """Codes of everything that is held, in order of time."""
        return self.ordered()[1]

    @property
    def t_ns(self) -> list[int]:
        """Times of everything that is held, in order."""
        return self.ordered()[0]

    def clear(self) -> None:
        """Forget every event that is held; the steps in them stay counted."""
        self._steps += self._pending()
        self._turn_steps = 0
        del self._spans[:], self._t_ns[:], self._code[:]

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
        self._t_ns.append(t_ns)
        self._code.append(code)

    def keep_loss(self, loss: Any) -> None:
        """Keep a handle on the loss of this step; it is read only while paused, so nothing synchronises."""
        self._losses.append((len(self._spans), loss))

    def passed(self, kind: str, index: int = 0) -> None:
        """Tell the gate that something ended; when it is the anchor, a step is over.

        Called once :attr:`gate` is reached, so not for every step.
        """
        if kind == "optimizer":
            for call in tuple(self.each_step):
                call()
        if kind != self.anchor or (kind == "optimizer" and index < self.anchor_index):
            return
        self.anchor_index = index
        if self.planted_slowdown_ratio > 1.0 and self.clock is time.perf_counter_ns:
            self._spin()
        now_ns = self.clock()
        self._turn_steps += 1
        self._step_began_ns = now_ns
        if now_ns >= self._deadline_ns or self._turn_steps >= self._turn_limit:
            self.pause()

    def arm(self) -> None:
        """Set the gate: to the end of the turn, or to now where every step must be told."""
        is_told = self.each_step or self.anchor == "data" or self.planted_slowdown_ratio > 1.0
        self.gate[0] = 0 if is_told or self._turn_limit != _NEVER_NS else self._deadline_ns

    def _spin(self) -> None:
        """Make the step last ``planted_slowdown_ratio`` times as long, by the clock that measures it.

        The end of the span that closed the step is moved behind the delay. Left where it was, the delay would count for
        the next step, and a turn's second step would carry what its cold first one earned (1.50 read as 1.54).
        """
        until_ns = self._step_began_ns + int((self._spans[-1] - self._step_began_ns) * self.planted_slowdown_ratio)
        while self.clock() < until_ns:
            continue
        self._spans[-1] = self.clock()

    def pause(self) -> None:
        """End the turn: tell the parent what happened, wait for the next command, and start the next turn.

        Raises:
            Finish: When the parent asks the program to end.
        """
        if self.channel is None:
            self._deadline_ns = _NEVER_NS
            self._turn_limit = _NEVER_NS
            self.arm()
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
        losses, steps = self._count()
        used = tuple(after - before for before, after in zip(self._usage, usage()))
        message: dict[str, Any] = {
            "msg": "turn",
            "turn": self._turn,
            "steps": steps,
            "wall_s": (paused_ns - self._resumed_ns) / 1e9,
            "t_ns": events.pack(self._t_ns),
            "code": events.pack(self._code),
            "losses": losses,
            "copied_bytes": self.copied_bytes,
            **dict(zip(USAGE_NAMES, used)),
            **self.describe_turn(),
        }
        if device is not None:
            message["device_t_ns"], message["device_code"] = events.pack(device[0]), events.pack(device[1])
        self.copied_bytes = 0
        self.clear()
        channel.send(message)

    def _begin_turn(self, command: dict[str, Any]) -> None:
        self.clear()
        if self.device_clock is not None:
            self.device_clock.forget()
        if self._turn < 0:
            self._losses.clear()
            self._steps = 0
            self.copied_bytes = 0
        self._turn = int(command["turn"])
        self._turn_steps = 0
        self._turn_limit = int(command.get("steps") or _NEVER_NS)
        self._usage = usage()
        self._resumed_ns = self._step_began_ns = self.clock()
        seconds = command.get("seconds")
        self._deadline_ns = _NEVER_NS if seconds is None else self._resumed_ns + int(seconds * 1e9)
        self.arm()
        self.stamp(events.code(events.RESUME))

    def _count(self) -> tuple[list[tuple[int, float]], int]:
        """Settle; return each loss kept with its step, and how many steps ended since the last time."""
        kept, self._losses = self._losses, []
        codes = self._spans[::3]
        losses = [(self._steps + self._steps_in(codes[: at // 3]), float(loss)) for at, loss in kept]
        self.settle()
        return losses, self._pending()

    def _steps_in(self, codes: Sequence[int]) -> int:
        """Steps that end in some events: those of the optimizer that was seen last, or backward passes."""
        if self.anchor != "optimizer":
            return sum(code & events.KIND_MASK == events.BACKWARD_BEGIN for code in codes)
        steps = [code >> events.OBJECT_SHIFT for code in codes if code & events.KIND_MASK == events.OPTIMIZER_BEGIN]
        self.anchor_index = max([self.anchor_index, *steps])
        return steps.count(self.anchor_index)


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
