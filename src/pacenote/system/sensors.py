"""Watches the sensors over the measured turns of one trial and gives the record's :class:`Sensors`.

Counters (energy) and instant readings (clock, temperature of the CPU) are read at the edges of a turn, while
the child is paused. Only an accelerator's power, clock, temperature and use are sampled in time, by a side
process that is started only when there is such a device.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Final

from pacenote.records import Reading, Sensors
from pacenote.system import accelerators, energy, thermal
from pacenote.system.reader import Reader

_ROOT: Final = str(Path(__file__).resolve().parents[2])

_SAMPLED: Final = {
    "device_power_w": "power_w",
    "device_utilisation_share": "utilisation_share",
    "device_clock_hz": "clock_hz",
    "device_temperature_c": "temperature_c",
}


class Sampler:
    """The running side process; all trials on one device share it, so that no two ever run.

    It writes to a file, since a pipe that nobody empties would block it after 64 KiB.

    Args:
        index: NVML index of the device.
    """

    _running: ClassVar[dict[int, Sampler]] = {}

    def __init__(self, index: int) -> None:
        self._index = index
        self._users = 0
        out, self._path = tempfile.mkstemp(suffix=".jsonl", prefix="pacenote-")
        command = [sys.executable, "-m", "pacenote.system.sampler", "--index", str(index)]
        # Ours is found even where it was put on the path by hand.
        path = [_ROOT, *filter(None, [os.environ.get("PYTHONPATH")])]
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.DEVNULL, env=environ
        )
        os.close(out)

    @classmethod
    def acquire(cls, index: int) -> Sampler:
        """Join the sampler of a device, starting it for the first user."""
        sampler = cls._running.get(index) or cls._running.setdefault(index, cls(index))
        sampler._users += 1
        return sampler

    def release(self) -> list[dict[str, Any]]:
        """Leave it and return every line so far; the last user ends the process."""
        self._users -= 1
        if self._users <= 0:
            self._running.pop(self._index, None)
            self._process.communicate()  # closes its standard input, at which it ends
        with open(self._path, encoding="utf-8") as written:
            found: list[dict[str, Any]] = [json.loads(line) for line in written if line.endswith("}\n")]
        if self._users <= 0:
            os.unlink(self._path)
        return found


class Watch:
    """One trial's sensors: ``begin()`` and ``end()`` round each measured turn, then ``result()``.

    Args:
        device: The framework's name of the device: ``cpu``, ``cuda:0``, ``gpu:0``.
        reader: Where to read; the live machine by default.
    """

    def __init__(self, device: str = "cpu", reader: Reader | None = None) -> None:
        self._reader = reader or Reader()
        self._index = accelerators.index_of(device)
        self._session: accelerators.Nvml | None = None
        self._sampler: Sampler | None = None
        self._device_reason = "device_is_cpu" if device == "cpu" else "no_sensor"
        if self._index is not None:
            self._session, self._device_reason = accelerators.connect()
            if self._session is not None and self._index >= len(self._session.handles):
                self.close()
                self._device_reason = "no_sensor"
        if self._session is not None and self._index is not None:
            self._sampler = Sampler.acquire(self._index)
        self._windows: list[tuple[float, float]] = []
        self._before: tuple[float, energy.RawEnergy, float | None] | None = None
        self._cpu_j: list[float | None] = []
        self._dram_j: list[float | None] = []
        self._device_j: list[float | None] = []
        self._clock_hz: list[float] = []
        self._temperature_c: list[float] = []
        self._energy_reason = energy.read(self._reader).reason

    def begin(self) -> None:
        """A measured turn is about to start."""
        raw = energy.read(self._reader)
        self._before = (time.perf_counter(), raw, self._device_energy_j())

    def end(self) -> None:
        """The turn has ended."""
        if self._before is None:
            return
        # Clock and temperature first: both start to fall the moment the child rests.
        clock_hz, _ = thermal.clock_hz(self._reader)
        temperature_c = thermal.temperature_c(self._reader)
        start_s, raw, device_j = self._before
        now, device_now_j = energy.read(self._reader), self._device_energy_j()
        self._windows.append((start_s, time.perf_counter()))
        self._cpu_j.append(energy.used_j(raw.packages, now.packages))
        self._dram_j.append(energy.used_j(raw.dram, now.dram))
        self._device_j.append(None if device_j is None or device_now_j is None else device_now_j - device_j)
        self._clock_hz.extend([clock_hz] if clock_hz else [])
        self._temperature_c.extend([temperature_c] if temperature_c else [])
        self._before = None

    def result(self) -> Sensors:
        """What the sensors saw over all turns; leaves the sampler."""
        lines = self._stop_sampler()
        sampled = {
            name: _mean(values_within(lines, key, self._windows), self._device_reason or "no_sample_in_turns")
            for name, key in _SAMPLED.items()
        }
        no_dram = self._energy_reason or "no_dram_counter"
        return Sensors(
            cpu_energy_j=energy.reading(_total(self._cpu_j), self._energy_reason),
            dram_energy_j=energy.reading(_total(self._dram_j), no_dram),
            device_energy_j=energy.reading(_total(self._device_j), self._device_reason or "no_energy_counter"),
            cpu_clock_hz=_mean(self._clock_hz, "no_cpufreq"),
            cpu_temperature_c=_mean(self._temperature_c, "no_temperature_sensor"),
            **sampled,
        )

    def close(self) -> None:
        """Leave the sampler and end the driver session; safe to call twice."""
        self._stop_sampler()
        if self._session is not None:
            self._session.close()
            self._session = None

    def _device_energy_j(self) -> float | None:
        if self._session is None or self._index is None:
            return None
        return self._session.energy_j(self._index)

    def _stop_sampler(self) -> list[dict[str, Any]]:
        sampler, self._sampler = self._sampler, None
        if sampler is None:
            return []
        return sampler.release()


def values_within(lines: Iterable[dict[str, Any]], key: str, windows: Iterable[tuple[float, float]]) -> list[float]:
    """Pick one value of every sample taken inside one of the windows."""
    kept = list(windows)
    return [
        float(line[key])
        for line in lines
        if line.get(key) is not None and any(start <= line["t_s"] <= end for start, end in kept)
    ]


def _total(parts: list[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def _mean(values: list[float], reason: str) -> Reading:
    return Reading(value=fmean(values), method="measured") if values else Reading(reason=reason)
