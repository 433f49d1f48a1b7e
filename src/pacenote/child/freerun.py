"""The recorder of a program that runs freely: it never waits, writes what it saw now and then, and may end the script.

Events are written between two optimizer steps, four times a second at most; that time is marked (``AWAY``) and belongs
to no step. When the answer is good enough the script is ended by ``SystemExit`` out of an optimizer's ``step``, so its
own ``finally`` blocks and exit handlers run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, Optional

from . import events
from .depth import Depth
from .recorder import Recorder
from .spool import SpoolWriter

WRITE_EVERY_NS = 250_000_000
SPANS_HELD = 150_000
"""Numbers held (three for a span) after which they are written without waiting for the time: 4 MB."""

RETIRED_AFTER = 50
"""Passes of other optimizers after which one that did not step again no longer holds back the count of steps."""

STOP_TRIES = 3
"""Times that the script is asked to end; one that swallows every exception runs on, and is told apart by its length."""

MARGIN_STEPS = 2
"""Steps between saying which is the last one and that step: ranks that exchange gradients are never further apart."""

_NEVER = 1 << 62


class Stop:
    """When to end the script: after some steps, or after some seconds of training.

    Args:
        folder: Where ranks agree on their last step.
        steps: Optimizer steps to run.
        seconds: Seconds from the first optimizer step on.
        together: Asked when time is over: whether other processes train with this one, so that all must end at the
            same step.
    """

    def __init__(
        self,
        folder: str,
        steps: Optional[int] = None,
        seconds: Optional[float] = None,
        together: Callable[[], bool] = lambda: False,
    ) -> None:
        self.path = os.path.join(folder, "last-step")
        self.is_set = steps is not None  # whether every step must be counted
        self.last_step = _NEVER if steps is None else steps
        self.seconds = seconds
        self.together = together
        self.deadline_ns = _NEVER

    def begin(self, now_ns: int) -> None:
        """Start the clock; nothing when it runs."""
        if self.seconds is not None and self.deadline_ns == _NEVER:
            self.deadline_ns = now_ns + int(self.seconds * 1e9)

    def is_due(self, step: int, now_ns: int) -> bool:
        """Whether ``step`` was the last one."""
        if now_ns >= self.deadline_ns and self.last_step == _NEVER:
            self.last_step = self._agreed(step) if self.together() else step
            self.is_set = True
        return step >= self.last_step

    def _agreed(self, step: int) -> int:
        """The last step of all ranks: the first rank to ask says it."""
        try:
            with open(self.path, "x", encoding="ascii") as file:
                file.write(str(step + MARGIN_STEPS))
            return step + MARGIN_STEPS
        except FileExistsError:
            pass
        except OSError:
            return step  # nobody can agree on anything without the folder
        try:
            with open(self.path, encoding="ascii") as file:
                return max(step, int(file.read()))
        except (OSError, ValueError):  # the other rank is just writing it: ask again after the next step
            return _NEVER


class FreeRecorder(Recorder):
    """Counts steps and writes events while the program runs on.

    A step is counted for the optimizer that steps least often, as :mod:`pacenote.segment` does when it has seen
    everything; before the first optimizer steps, for each backward (updates made by hand).

    Args:
        spool: Where events go.
        stop: When to end the script.
        describe: Called at each writing; what it returns is written beside the events.
    """

    def __init__(self, spool: SpoolWriter, stop: Stop, describe: Callable[[], dict[str, Any]] = dict) -> None:
        super().__init__(None)
        self.spool = spool
        self.stop = stop
        self.describe = describe
        self.anchor = "backward"
        self.ended = False
        self.depth: Optional[Depth] = None
        self.opening: dict[str, Any] = {}  # written before anything else, when anything is
        self._written_ns = 0
        self._objects_written = 0
        self._counts: dict[int, int] = {}
        self._latest: dict[int, int] = {}
        self._passes = 0
        self._tries = 0

    def passed(self, kind: str, index: int = 0) -> None:
        """Write, and end the script, when either is due.

        Raises:
            SystemExit: When this was the last step.
        """
        if self.ended:
            return
        if kind == "optimizer":
            for call in tuple(self.each_step):
                call()
        elif kind != self.anchor:
            return
        now_ns = self.clock()
        ended_ns = self._spans[-1] if self._spans else now_ns
        self.stop.begin(now_ns)
        if now_ns - self._written_ns >= WRITE_EVERY_NS or len(self._spans) >= SPANS_HELD:
            self.write()
        elif self.stop.is_set:
            self._take()
        if self.depth is not None:
            self.depth.passed(self.step, ended_ns, self.stop.last_step, self.stop.deadline_ns)
        if self.stop.is_due(self.step, now_ns) and self._tries < STOP_TRIES:
            self._tries += 1
            self.write()
            self.spool.message({"msg": "stopped", "step": self.step})
            raise SystemExit(0)
        self.arm()

    def arm(self) -> None:
        """Set the gate: to the next writing, or to now where every step must be told."""
        is_deep = self.depth is not None and self.depth.is_running
        is_told = self.each_step or is_deep or (self.stop.is_set and self._tries < STOP_TRIES)
        self.gate[0] = 0 if is_told else min(self._written_ns + WRITE_EVERY_NS, self.stop.deadline_ns)

    def _choose(self, codes: Sequence[int]) -> None:
        """Count optimizer steps from the first one on; what was counted before was backward passes."""
        if self.anchor != "optimizer" and any(code & events.KIND_MASK == events.OPTIMIZER_BEGIN for code in codes):
            self.anchor = "optimizer"
            self._steps = 0
            self._counts.clear()
            self._latest.clear()

    def _pending(self) -> int:
        self._choose(self._spans[::3])
        return self._ended(self._spans[::3], keep=False)

    def _take(self) -> list[tuple[int, float]]:
        """Count what has been recorded since the last time; return the losses with their steps."""
        kept, self._losses = self._losses, []
        codes = self._spans[::3]
        self._choose(codes)
        before = [(self._steps + self._ended(codes[: at // 3], keep=False), loss) for at, loss in kept]
        self.settle()
        self._steps += self._ended(codes, keep=True)
        # Reading one from an accelerator would make the script wait for its device.
        return [(step, float(loss)) for step, loss in before] if self.device_clock is None else []

    def _ended(self, codes: Sequence[int], *, keep: bool) -> int:
        """Steps that ended in some spans: of the optimizer that brings the rarest of those in use one further."""
        counts, latest, passes = (
            (self._counts, self._latest, self._passes)
            if keep
            else (dict(self._counts), dict(self._latest), self._passes)
        )
        kind = events.OPTIMIZER_BEGIN if self.anchor == "optimizer" else events.BACKWARD_BEGIN
        step = self._steps
        for code in codes:
            if code & events.KIND_MASK != kind:
                continue
            index = code >> events.OBJECT_SHIFT
            passes += 1
            counts[index] = counts.get(index, step) + 1
            latest[index] = passes
            if len(counts) > 1:
                for other in [one for one, at in latest.items() if passes - at > RETIRED_AFTER * len(latest)]:
                    del latest[other], counts[other]
            step = max(step, min(counts.values()))
        if keep:
            self._passes = passes
        return step - self._steps

    def pause(self) -> None:
        """Nobody waits here."""

    def write(self) -> None:
        """Write what has happened; the time it takes is marked as ours."""
        self.stamp_at(events.code(events.AWAY_BEGIN, grad=False), self.clock())
        if self.opening:
            self.spool.message(self.opening)
            self.opening = {}
        losses = self._take()
        if len(self.objects) > self._objects_written:
            self.spool.message({"msg": "objects", "objects": self.objects[self._objects_written :]})
            self._objects_written = len(self.objects)
        facts: dict[str, Any] = {"msg": "part", "t_ns": self.clock(), "step": self.step}
        facts.update(copied_bytes=self.copied_bytes, **self.describe())
        self.copied_bytes = 0
        if losses:
            facts["losses"] = losses
        if self.device_clock is not None:
            t_ns, code = self.device_clock.resolve()
            if len(code):
                self.spool.events(t_ns, code)
        self.spool.message(facts)
        held = len(self._code)
        self.spool.events(self._t_ns[:held], self._code[:held])
        # Emptied in place: the hooks keep the methods of these objects. Another thread may have appended meanwhile.
        del self._t_ns[:held], self._code[:held]
        self._written_ns = self.clock()
        self.stamp_at(events.code(events.AWAY_END, grad=False), self._written_ns)
        self.arm()

    def end(self, **facts: Any) -> None:
        """Write the rest and say that this was all; nothing on a second call."""
        if self.ended:
            return
        if self.depth is not None:
            self.depth.cancel()
        self.write()
        self.ended = True
        self.spool.message({"msg": "end", "step": self.step, "t_ns": time.perf_counter_ns(), **facts})

    def forked(self, spool: SpoolWriter) -> None:
        """Start anew in a forked process: what the parent process has seen is the parent's."""
        self.spool = spool
        self.clear()
        self._objects_written = 0  # the codes that hooks hold point at the objects known so far
        self._losses.clear()
        self._counts.clear()
        self._latest.clear()
        self._steps = self._passes = self._written_ns = 0
        self.ended = False
        self.depth = None
        self.arm()
