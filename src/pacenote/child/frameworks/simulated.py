"""A framework without a framework: training that only moves a virtual clock.

It exercises everything around a framework (pipes, gate, events, records, faults) in milliseconds with exact numbers,
in tests and in fault injections. The lever ``script`` holds what one step does, for example
``"data_wait=1ms forward=2ms backward=3ms optimizer=1ms other=0.5ms"``; ``noise`` is the relative spread of a step, and
the job's ``fault`` makes it fail in a chosen way at a chosen step (see :mod:`pacenote_child.faults`).
Events carry the virtual time, so a step of "10 ms" costs microseconds.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Optional

from .. import events
from ..recorder import PatchSet, Recorder

DEFAULT_SCRIPT = "data_wait=1ms forward=2ms backward=3ms optimizer=1ms other=0.2ms"
_UNITS = {"us": 1e3, "ms": 1e6, "s": 1e9}
_SPANS = {
    "data_wait": events.DATA_BEGIN,
    "copy": events.COPY_BEGIN,
    "forward": events.FORWARD_BEGIN,
    "backward": events.BACKWARD_BEGIN,
    "optimizer": events.OPTIMIZER_BEGIN,
}


def parse(script: str) -> list[tuple[str, float]]:
    """Read a script into (phase, nanoseconds) in order.

    Raises:
        ValueError: If a phase or a unit is unknown.
    """
    phases = []
    for word in script.split():
        name, _, amount = word.partition("=")
        unit = next((unit for unit in ("us", "ms", "s") if amount.endswith(unit)), None)
        if unit is None or name not in (*_SPANS, "other"):
            raise ValueError(f"cannot read {word!r} in a simulated script")
        phases.append((name, float(amount[: -len(unit)]) * _UNITS[unit]))
    return phases


class Adapter:
    """Stands where a framework stands."""

    name = "simulated"

    def __init__(self) -> None:
        self.module: Any = None
        self._threads = 1
        self.random = random.Random(0)

    def load(self) -> None:
        """Nothing to import."""

    def facts(self) -> dict[str, Any]:
        """The same facts on every machine."""
        return {"name": self.name, "version": "1", "build": {}, "threads": self._threads, "debug_flags": {}}

    def devices(self) -> list[dict[str, Any]]:
        """A CPU."""
        return [{"name": "cpu", "kind": "cpu", "available": True, "build": True, "driver": None, "reason": ""}]

    def get_threads(self) -> int:
        """What was set."""
        return self._threads

    def set_threads(self, count: int) -> None:
        """Remember the count."""
        self._threads = count

    def seed(self, value: int) -> None:
        """Seed the noise."""
        self.random.seed(value)

    def synchronize(self, device: str) -> None:
        """Nothing runs behind the host's back."""

    def device_memory(self, device: str) -> Optional[dict[str, int]]:
        """No device."""
        return None

    def reset_peak(self, device: str) -> None:
        """No device."""

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Python's own error only."""
        return isinstance(error, MemoryError)

    def install_probe(self, recorder: Recorder, device: str) -> PatchSet:
        """The simulated training stamps its own events."""
        self.recorder = recorder
        return PatchSet()

    def attach_probe(
        self, recorder: Recorder, noticed: Callable[[Any, str], None], data_function: str = ""
    ) -> PatchSet:
        """The same: there is nothing to hook."""
        return self.install_probe(recorder, "cpu")

    def ranks(self) -> dict[str, int]:
        """Alone."""
        return {}


class Training:
    """An endless loop of scripted steps on a virtual clock."""

    model: Any = None
    parameters = 0

    def __init__(self, adapter: Adapter, levers: dict[str, Any], fault: Any = None) -> None:
        self.recorder = adapter.recorder
        self.random = adapter.random
        self.samples_per_step = int(levers.get("batch_size", 1))
        self.data: dict[str, Any] = {"source": "simulated"}
        self.phases = parse(str(levers.get("script", DEFAULT_SCRIPT)))
        self.noise = float(levers.get("noise", 0.0))
        self.fault = fault
        self.clock_ns = 0
        self.recorder.use_clock(lambda: self.clock_ns)

    def run(self) -> None:
        """Step for ever; the gate ends it."""
        recorder = self.recorder
        while True:
            if self.fault is not None:
                self.fault.at_step(recorder.step)
            scale = max(0.1, self.random.gauss(1.0, self.noise)) if self.noise else 1.0
            for name, duration_ns in self.phases:
                self._span(name, duration_ns * scale * recorder.planted_slowdown_ratio)
            recorder.passed("optimizer")

    def _span(self, name: str, duration_ns: float) -> None:
        begin = _SPANS.get(name)
        if begin is not None:
            self.recorder.stamp(events.code(begin))
        self.clock_ns += int(duration_ns)
        if begin is not None:
            self.recorder.stamp(events.code(begin + 1))
