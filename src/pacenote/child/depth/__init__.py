"""Recording a few steps in depth: operators with shapes, kernels, copies, allocations.

The framework's own profiler runs for :data:`STEPS` steps once the other steps are known well enough, and what it saw is
reduced to a table of distinct operators and three numbers per call. Steps recorded so are slower, so they are marked
(``DEPTH``) and enter no statistic; starting, stopping and reading the profiler is marked as ours (``AWAY``).

A script that profiles itself is left alone: while its profiler runs ours does not start, and when it starts during our
steps ours ends first.
"""

from __future__ import annotations

import functools
from array import array
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .. import events

STEPS = 3
AFTER_NS = 5_000_000_000
AFTER_STEPS = 30
"""Both have to pass since the first step: one step in 30 is what the reading may cost a script that lasts."""

PATIENCE_NS = 30_000_000_000
PATIENT_STEPS = 4
"""A script with long steps is recorded after so long, when it has made this many."""

TRIES = 3
"""Times that a recording is begun anew after it had to be given up (a fork of loader workers fell into it)."""

CALLS_KEPT = 60_000
"""Calls kept, those that began first: 24 bytes each before compression. What is left out is counted."""

SHAPES_KEPT = 400
"""Characters of the shapes of one operator; an operator on a list of a thousand tensors would fill the record."""


class Profiler(Protocol):
    """The profiler of one framework, as this module needs it."""

    def is_free(self) -> bool:
        """Whether nobody else profiles."""
        ...

    def start(self) -> None:
        """Begin to record."""
        ...

    def stop(self) -> Calls:
        """End, and give back what was recorded."""
        ...

    def give_up(self) -> None:
        """End, and forget what was recorded."""
        ...


def profilers(framework: str) -> Callable[[Any], tuple[Profiler, Callable[[Any, Callable[[], None]], None]]]:
    """How to make the profiler of a framework, and how to be told that the script starts one of its own."""

    def make(module: Any) -> tuple[Profiler, Callable[[Any, Callable[[], None]], None]]:
        if framework == "pytorch":
            from . import pytorch

            return pytorch.PyTorchProfiler(module), functools.partial(pytorch.on_start, module)
        from . import paddle

        return paddle.PaddleProfiler(module), functools.partial(paddle.on_start, module)

    return make


class Calls:
    """Calls of operators, kernels and copies, as flat arrays beside tables of what is distinct.

    Attributes:
        objects: Distinct things that were called: ``{"kind": "op" | "runtime" | "kernel" | "copy", "name": ...}``,
            operators with ``shapes`` and ``dtypes``, copies with ``bytes``, ``source`` and ``target``.
        tracks: What the calls ran on: ``{"kind": "thread" | "device", "name": ...}``.
        memory: Per device: allocations, bytes allocated, and the largest rise above the start.
        began_ns: When each call began, by ``time.perf_counter_ns``.
        lasted_ns: How long it took.
        what: Index of its object.
        where: Index of its track.
        cause: Index of the call that launched it, for what ran on a device; -1 elsewhere.
    """

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.tracks: list[dict[str, Any]] = []
        self.memory: dict[str, dict[str, int]] = {}
        self.began_ns: array[int] = array("q")
        self.lasted_ns: array[int] = array("q")
        self.what: array[int] = array("q")
        self.where: array[int] = array("q")
        self.cause: array[int] = array("q")
        self.left_out = 0
        self._objects: dict[Any, int] = {}
        self._tracks: dict[Any, int] = {}

    def __len__(self) -> int:
        """How many calls are kept."""
        return len(self.began_ns)

    def add(self, what: int, where: int, began_ns: int, lasted_ns: int, cause: int = -1) -> int:
        """Keep one call; return its index, or -1 when there are too many."""
        if len(self.began_ns) >= CALLS_KEPT:
            self.left_out += 1
            return -1
        self.began_ns.append(began_ns)
        self.lasted_ns.append(lasted_ns)
        self.what.append(what)
        self.where.append(where)
        self.cause.append(cause)
        return len(self.began_ns) - 1

    def object(self, kind: str, name: str, shapes: Any = (), dtypes: Sequence[str] = (), **facts: Any) -> int:
        """Number something that is called, the first time it is seen."""
        shown = shortened(shapes)
        key = (kind, name, shown, tuple(dtypes), tuple(sorted(facts.items())))
        found = self._objects.get(key)
        if found is None:
            found = self._objects[key] = len(self.objects)
            entry: dict[str, Any] = {"kind": kind, "name": name, **facts}
            if shown:
                entry["shapes"] = shown
            if any(dtypes):
                entry["dtypes"] = list(dtypes)[:16]
            self.objects.append(entry)
        return found

    def track(self, kind: str, name: str) -> int:
        """Number what calls run on, the first time it is seen."""
        found = self._tracks.get((kind, name))
        if found is None:
            found = self._tracks[kind, name] = len(self.tracks)
            self.tracks.append({"kind": kind, "name": name})
        return found

    def allocated(self, device: str, size: int) -> None:
        """Count one allocation, or the end of one (``size`` below 0)."""
        held = self.memory.setdefault(device, {"allocations": 0, "allocated_bytes": 0, "now_bytes": 0, "rise_bytes": 0})
        held["now_bytes"] += size
        if size > 0:
            held["allocations"] += 1
            held["allocated_bytes"] += size
            held["rise_bytes"] = max(held["rise_bytes"], held["now_bytes"])

    def packed(self) -> dict[str, Any]:
        """As one message."""
        arrays = ("began_ns", "lasted_ns", "what", "where", "cause")
        memory = {
            device: {name: value for name, value in held.items() if name != "now_bytes"}
            for device, held in self.memory.items()
        }
        return {
            "objects": self.objects,
            "tracks": self.tracks,
            "memory": memory,
            "left_out": self.left_out,
            **{name: events.pack(getattr(self, name)) for name in arrays},
        }


def shortened(shapes: Any) -> str:
    """Shapes of the inputs as text: ``32x3x5x5 6``; empty without any."""
    shown = " ".join(_shape(one) for one in shapes)
    if not shown.strip():
        return ""
    return shown if len(shown) <= SHAPES_KEPT else shown[:SHAPES_KEPT] + "…"


def _shape(shape: Any) -> str:
    if not isinstance(shape, (list, tuple)):
        return "-"
    if shape and isinstance(shape[0], (list, tuple)):
        return "[" + " ".join(_shape(one) for one in shape) + "]"
    return "x".join(map(str, shape)) or "-"


class Depth:
    """When to record in depth, and the recording.

    Args:
        recorder: Of a program that runs freely: its clock, events and spool are used.
        profiler: Of the framework that trains.
    """

    def __init__(self, recorder: Any, profiler: Profiler) -> None:
        self.recorder = recorder
        self.profiler = profiler
        self.is_over = False
        self.is_running = False
        self._tries = 0
        self._first_ns = -1
        self._until = 0

    def passed(self, step: int, ended_ns: int, last_step: int, deadline_ns: int) -> None:
        """Some steps may have ended: begin, go on or end.

        Args:
            step: Steps so far.
            ended_ns: When the latest one ended.
            last_step: The step after which the script will be ended, if that is known.
            deadline_ns: The time at which it will be ended, if that is known.
        """
        if self.is_over or not step:
            return
        if self._first_ns < 0:
            self._first_ns = ended_ns
        if self.is_running:
            if step >= self._until:
                self._finish(ended_ns)
        elif self._is_due(step, ended_ns, last_step, deadline_ns):
            self._begin(step)

    def cancel(self) -> None:
        """Give up for now: the script forks, begins to profile itself, or ends."""
        if not self.is_running:
            return
        self._stamp(events.DEPTH_END)
        self.is_running = False
        self.is_over = self._tries >= TRIES
        try:
            self.profiler.give_up()
        except Exception as error:  # noqa: BLE001 - the script must run whatever happens to us
            self._fail(error)

    def _is_due(self, step: int, ended_ns: int, last_step: int, deadline_ns: int) -> bool:
        trained_ns = ended_ns - self._first_ns
        if step >= last_step - STEPS - 1 and step >= STEPS:
            return True
        if trained_ns >= AFTER_NS and step >= AFTER_STEPS:
            return True
        return trained_ns >= min(deadline_ns - self._first_ns, 2 * PATIENCE_NS) // 2 and step >= PATIENT_STEPS

    def _begin(self, step: int) -> None:
        try:
            if not self.profiler.is_free():
                return
            self._tries += 1
            self._away(self.profiler.start)
        except Exception as error:  # noqa: BLE001 - the script must run whatever happens to us
            self._fail(error)
            return
        self.is_running = True
        self._until = step + STEPS
        self._stamp(events.DEPTH_BEGIN)

    def _finish(self, ended_ns: int) -> None:
        # Right before the step ended, not now: what lies between is the next one's, and that is not recorded.
        self.recorder.stamp_at(events.code(events.DEPTH_END, grad=False), ended_ns - 1)
        self.is_running, self.is_over = False, True
        try:
            self._away(self._write)
        except Exception as error:  # noqa: BLE001 - the script must run whatever happens to us
            self._fail(error)

    def _write(self) -> None:
        calls = self.profiler.stop()
        self.recorder.spool.message({"msg": "depth", "steps": STEPS, **calls.packed()})

    def _away(self, work: Callable[[], None]) -> None:
        self._stamp(events.AWAY_BEGIN)
        try:
            work()
        finally:
            self._stamp(events.AWAY_END)

    def _stamp(self, kind: int) -> None:
        self.recorder.stamp_at(events.code(kind, grad=False), self.recorder.clock())

    def _fail(self, error: Exception) -> None:
        self.is_running, self.is_over = False, True
        self.recorder.spool.message({"msg": "depth", "failure": f"{type(error).__name__}: {error}"[:300]})
