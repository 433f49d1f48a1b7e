"""What the runner reads from the machine, behind one seam so that tests can script it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Protocol

from pacenote import environment
from pacenote.records import Counters, Environment, Sensors
from pacenote.system import counters, load, process, sensors, snapshot
from pacenote.system.process import Footprint
from pacenote.system.reader import Reader


class Clock(Protocol):
    """The time, and nothing else."""

    def monotonic_s(self) -> float:
        """Seconds of a clock that is never set; the one the children stamp their events with."""
        ...

    def unix_s(self) -> float:
        """Seconds since 1970."""
        ...


class SystemClock:
    """The machine's clocks."""

    def monotonic_s(self) -> float:
        """See :class:`Clock`."""
        return time.perf_counter()

    def unix_s(self) -> float:
        """See :class:`Clock`."""
        return time.time()


class Watch(Protocol):
    """Sensors over the measured turns of one trial."""

    def begin(self) -> None:
        """A measured turn is about to start."""

    def end(self) -> None:
        """It has ended."""

    def result(self) -> Sensors:
        """What the sensors saw."""
        ...

    def close(self) -> None:
        """Let go of the sensors."""


class Meters(Protocol):
    """Readings of the machine and of a child; all of them are taken while every child is paused."""

    def before(self) -> dict[str, Any]:
        """State of the machine before a round."""
        ...

    def read(self, pid: int) -> Any:
        """Running totals of child and machine."""
        ...

    def difference(self, before: Any, after: Any) -> Counters:
        """What happened between two readings."""
        ...

    def footprint(self, pid: int) -> Footprint:
        """Memory of a child and its workers."""
        ...

    def watch(self, device: str) -> Watch:
        """Sensors for one trial."""
        ...

    def environment(self, framework: Mapping[str, Any], variables: Mapping[str, str]) -> Environment:
        """Fingerprint of machine, interpreter and framework."""
        ...

    def available_bytes(self) -> float | None:
        """Memory that children may still take."""
        ...


class MachineMeters:
    """Readings of this machine."""

    def __init__(self) -> None:
        self._reader = Reader()
        self._facts: dict[str, Any] | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """What stays the same on this machine; read once."""
        if self._facts is None:
            self._facts = environment.machine_facts()
        return self._facts

    def before(self) -> dict[str, Any]:
        """See :class:`Meters`."""
        return snapshot.snapshot(self._reader)

    def read(self, pid: int) -> counters.RawCounters:
        """See :class:`Meters`."""
        return counters.read(pid, self._reader)

    def difference(self, before: counters.RawCounters, after: counters.RawCounters) -> Counters:
        """See :class:`Meters`."""
        return counters.difference(before, after)

    def footprint(self, pid: int) -> Footprint:
        """See :class:`Meters`."""
        return process.footprint(pid, self._reader)

    def watch(self, device: str) -> sensors.Watch:
        """See :class:`Meters`."""
        return sensors.Watch(device, self._reader)

    def environment(self, framework: Mapping[str, Any], variables: Mapping[str, str]) -> Environment:
        """See :class:`Meters`."""
        return environment.environment(framework, variables=variables, facts=self.facts)

    def available_bytes(self) -> float | None:
        """See :class:`Meters`."""
        found: float | None = load.memory(self._reader).get("memory_available_bytes")
        return found
