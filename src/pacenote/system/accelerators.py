"""NVIDIA accelerators through NVML (package ``nvidia-ml-py`` and a driver), or the reason there are none."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any, Final

from pacenote.system import process

_SLOWED: Final = {
    "power_cap": 0x4,
    "hardware_slowdown": 0x8,
    "software_thermal": 0x20,
    "hardware_thermal": 0x40,
    "power_brake": 0x80,
}
"""Reasons for a lower clock under which numbers suffer (nvml.h, nvmlClocksEventReason*); idle is not one."""


class Nvml:
    """An open NVML session.

    Args:
        library: The ``pynvml`` module, already initialised.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        count = self._ask(library.nvmlDeviceGetCount) or 0
        # A card that has fallen off the bus has no handle but keeps its number.
        self.handles = [self._ask(library.nvmlDeviceGetHandleByIndex, at) for at in range(count)]

    def facts(self) -> list[dict[str, Any]]:
        """What stays: ``index``, ``name``, ``memory_total_bytes``, ``driver_version``, ``clock_max_hz``."""
        library = self._library
        driver = self._ask(library.nvmlSystemGetDriverVersion)
        return [
            {
                "index": at,
                "name": _text(self._ask(library.nvmlDeviceGetName, handle)),
                "memory_total_bytes": getattr(self._ask(library.nvmlDeviceGetMemoryInfo, handle), "total", None),
                "driver_version": _text(driver),
                "clock_max_hz": _scaled(
                    self._ask(library.nvmlDeviceGetMaxClockInfo, handle, library.NVML_CLOCK_SM), 1e6
                ),
            }
            for at, handle in enumerate(self.handles)
        ]

    def sample(self, at: int) -> dict[str, Any]:
        """What moves: ``power_w``, ``utilisation_share``, ``clock_hz``, ``temperature_c``, ``slowed_by``."""
        library, handle = self._library, self.handles[at]
        reasons = self._ask(library.nvmlDeviceGetCurrentClocksThrottleReasons, handle)
        return {
            "power_w": _scaled(self._ask(library.nvmlDeviceGetPowerUsage, handle), 1e-3),
            "utilisation_share": _scaled(
                getattr(self._ask(library.nvmlDeviceGetUtilizationRates, handle), "gpu", None), 1e-2
            ),
            "clock_hz": _scaled(self._ask(library.nvmlDeviceGetClockInfo, handle, library.NVML_CLOCK_SM), 1e6),
            "temperature_c": _scaled(
                self._ask(library.nvmlDeviceGetTemperature, handle, library.NVML_TEMPERATURE_GPU), 1.0
            ),
            "slowed_by": None if reasons is None else [name for name, bit in _SLOWED.items() if reasons & bit],
        }

    def energy_j(self, at: int) -> float | None:
        """Energy since the driver was loaded (Volta and newer)."""
        return _scaled(self._ask(self._library.nvmlDeviceGetTotalEnergyConsumption, self.handles[at]), 1e-3)

    def other_processes(self, at: int, own_pids: set[int]) -> int | None:
        """How many processes that are not ours hold memory on the device."""
        listed = self._ask(self._library.nvmlDeviceGetComputeRunningProcesses, self.handles[at])
        return None if listed is None else len({one.pid for one in listed} - own_pids)

    def used_bytes(self, at: int) -> int | None:
        """Memory in use on the device, by anybody."""
        used: int | None = getattr(self._ask(self._library.nvmlDeviceGetMemoryInfo, self.handles[at]), "used", None)
        return used

    def close(self) -> None:
        """End the session."""
        self._ask(self._library.nvmlShutdown)

    def _ask(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """Ask the driver; ``None`` where this device has no such reading, or is gone."""
        if None in arguments:
            return None
        try:
            return question(*arguments)
        except self._library.NVMLError:
            return None


def connect() -> tuple[Nvml | None, str]:
    """Open NVML.

    Returns:
        The session, or ``None`` and why not: ``nvml_package_missing``, ``no_nvidia_driver`` or
        ``no_nvidia_device``.
    """
    try:
        library = importlib.import_module("pynvml")
    except ImportError:
        return None, "nvml_package_missing"
    try:
        library.nvmlInit()
    except library.NVMLError:
        return None, "no_nvidia_driver"
    session = Nvml(library)
    if not session.handles:
        session.close()
        return None, "no_nvidia_device"
    return session, ""


def state() -> list[dict[str, Any]]:
    """Facts and one sample of every accelerator; empty where there is none.

    Each dictionary has the keys of :meth:`Nvml.facts` and :meth:`Nvml.sample`, and ``memory_used_bytes`` and
    ``other_process_count`` (processes that are neither this one nor below it).
    """
    session, _ = connect()
    if session is None:
        return []
    own = set(process.tree(os.getpid()))
    found = [
        {
            **facts,
            **session.sample(at),
            "memory_used_bytes": session.used_bytes(at),
            "other_process_count": session.other_processes(at, own),
        }
        for at, facts in enumerate(session.facts())
    ]
    session.close()
    return found


def index_of(device: str) -> int | None:
    """NVML index of a framework's device name: ``cuda``, ``cuda:1``, ``gpu:0``; ``None`` for anything else.

    ``CUDA_VISIBLE_DEVICES`` renumbers the framework's devices but not NVML's; ids in it other than numbers
    are not resolved, which leaves the device without a sensor instead of with another one's.
    """
    kind, _, number = device.partition(":")
    if kind not in ("cuda", "gpu") or (number and not number.isdigit()):
        return None
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return int(number or 0)
    listed = [part.strip() for part in visible.split(",")]
    at = int(number or 0)
    return int(listed[at]) if at < len(listed) and listed[at].isdigit() else None


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _text(value: str | bytes | None) -> str | None:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
