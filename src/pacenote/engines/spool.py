"""What attached processes left behind: read, sorted by process, and told apart by what they did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pacenote.child import events, spool
from pacenote.child.attach import FAILED
from pacenote.records import EventLog


@dataclass
class Attached:
    """One process that imported a framework under the probe.

    Attributes:
        hello: Its first message: ids, interpreter, framework, and when it began.
        parts: What it wrote beside its events, in order.
        objects: What the indices in its codes stand for.
        end: Its last message; empty when it was killed.
        stopped: Whether it was asked to end, and did so.
        depth: What was recorded in depth; empty when nothing was.
    """

    path: Path
    hello: dict[str, Any] = field(default_factory=dict)
    parts: list[dict[str, Any]] = field(default_factory=list)
    objects: list[dict[str, Any]] = field(default_factory=list)
    end: dict[str, Any] = field(default_factory=dict)
    stopped: bool = False
    depth: dict[str, Any] = field(default_factory=dict)
    broken: str = ""
    _t_ns: list[bytes] = field(default_factory=list)
    _code: list[bytes] = field(default_factory=list)
    _offset: int = 0

    @property
    def pid(self) -> int:
        """Process id."""
        return int(self.hello.get("pid", 0))

    @property
    def framework(self) -> str:
        """Our name of the framework."""
        return str(self.told("framework", {}).get("name") or self.hello.get("framework") or "")

    @property
    def rank(self) -> int:
        """Its rank; 0 when it trains alone."""
        return int(self.told("rank", 0))

    @property
    def world_size(self) -> int:
        """How many processes train together."""
        return int(self.told("world_size", 1))

    @property
    def device(self) -> str:
        """The device of the first model that it called."""
        return str((self.told("devices", None) or ["cpu"])[0])

    @property
    def trained(self) -> bool:
        """Whether it made a backward pass or an optimizer step."""
        return any(part.get("step") for part in (*self.parts, self.end))

    def told(self, name: str, otherwise: Any) -> Any:
        """The latest value that it wrote under a name."""
        for part in (self.end, *reversed(self.parts)):
            if name in part:
                return part[name]
        return otherwise

    def read(self) -> None:
        """Read what has been written since the last reading; a spool that is no spool is broken from there on."""
        if self.broken:
            return
        with self.path.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        begun = self._offset
        try:
            for kind, body, used in spool.read(data):
                self._offset = begun + used
                if kind == spool.EVENTS:
                    self._t_ns.append(body[0])
                    self._code.append(body[1])
                else:
                    self._take(body)
        except ValueError as error:
            self.broken = str(error)

    def _take(self, message: dict[str, Any]) -> None:
        kind = message.get("msg")
        if kind == "hello":
            self.hello = message
        elif kind == "objects":
            self.objects.extend(message["objects"])
        elif kind == "part":
            self.parts.append(message)
        elif kind == "depth":
            self.depth = message
        elif kind == "stopped":
            self.stopped = True
        elif kind == "end":
            self.end = message

    def log(self) -> EventLog:
        """All events so far."""
        return EventLog(t_ns=b"".join(self._t_ns), code=b"".join(self._code), objects=self.objects)


class Spools:
    """The spool files of one run.

    Args:
        folder: Where they are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Attached] = {}

    def read(self) -> list[Attached]:
        """Every process so far, the oldest first; none when the script took the folder away."""
        for path in sorted(self.folder.glob(f"*{spool.SUFFIX}")):
            self._known.setdefault(path.name, Attached(path))
        for one in self._known.values():
            if one.path.exists():
                one.read()
        return sorted(self._known.values(), key=lambda one: (one.hello.get("unix_s", 0.0), one.pid))

    def failures(self) -> Iterator[str]:
        """Why the probe could not be attached, per process in which that failed."""
        for path in sorted(self.folder.glob(f"*{FAILED}")):
            yield path.read_text(encoding="utf-8", errors="replace")


def gated(log: EventLog, *, warm_s: float, warm_steps: int = 2) -> tuple[EventLog, int]:
    """Put the gate into the log of a program that ran freely: turn 0 is its warm-up, turn 1 the rest.

    Args:
        log: As written, without a gate.
        warm_s: Least length of the warm-up.
        warm_steps: Least number of steps in it.

    Returns:
        The log, and the time in nanoseconds at which turn 1 begins; the log itself and 0 when nothing can be cut.
    """
    t_ns = np.frombuffer(log.t_ns, dtype="<i8")
    code = np.frombuffer(log.code, dtype="<i8")
    if not len(t_ns):
        return log, 0
    kind = code & events.KIND_MASK
    host = (code >> events.STREAM_SHIFT & events.STREAM_MASK) == 0
    ends = t_ns[host & (kind == events.OPTIMIZER_END)]
    if not len(ends):
        ends = t_ns[host & (kind == events.BACKWARD_END)]
    first = int(t_ns.min())
    marks = [(first, events.RESUME)]
    cut = 0
    if len(ends) > warm_steps:
        at = int(np.searchsorted(ends, ends[0] + int(warm_s * 1e9)))
        at = max(warm_steps - 1, min(at, len(ends) // 4 - 1))  # a short run keeps three quarters of its steps
        cut = int(ends[at]) + 1
        marks += [(cut, events.PAUSE), (cut + 1, events.RESUME)]
    marks.append((int(t_ns.max()) + 1, events.PAUSE))
    times = np.concatenate((t_ns, np.array([at for at, _ in marks], dtype="<i8")))
    codes = np.concatenate((code, np.array([events.code(mark) for _, mark in marks], dtype="<i8")))
    order = np.argsort(times, kind="stable")
    return EventLog(t_ns=times[order].tobytes(), code=codes[order].tobytes(), objects=log.objects), cut
