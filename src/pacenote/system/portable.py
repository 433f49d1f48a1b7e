"""The readings psutil can give where ``/proc`` and ``/sys`` do not exist (macOS, Windows).

Only imported there, so that a Linux run pays nothing for it.
"""

from __future__ import annotations

from typing import Any

import psutil  # type: ignore[import-untyped,unused-ignore]

_GONE = (psutil.Error, OSError, NotImplementedError)


def process(pid: int) -> dict[str, Any]:
    """CPU time, faults, switches, memory of one process; a key is absent where there is no such number."""
    found: dict[str, Any] = {}
    try:
        handle = psutil.Process(pid)
        times, memory = handle.cpu_times(), handle.memory_info()
        found.update(cpu_s=times.user + times.system, rss_bytes=memory.rss)
        found["rss_peak_bytes"] = getattr(memory, "peak_wset", None)  # Windows
        found["major_faults"] = getattr(memory, "pageins", None)  # macOS
        found["faults"] = getattr(memory, "num_page_faults", getattr(memory, "pfaults", None))
        switches = handle.num_ctx_switches()
        # macOS counts all switches as voluntary and Windows as well: only the sum is known there.
        found["switches"] = switches.voluntary + switches.involuntary
    except _GONE:  # it has ended, or the system has no such number; what was read so far stands
        pass
    return found


def descendants(pid: int) -> list[int]:
    """Ids of every process below ``pid``."""
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except _GONE:
        return []


def busy_s() -> float | None:
    """CPU seconds that all processes have used since the machine started."""
    try:
        times = psutil.cpu_times()
    except _GONE:
        return None
    return float(sum(getattr(times, name, 0.0) for name in ("user", "nice", "system", "irq", "interrupt", "dpc")))


def cpus() -> dict[str, Any]:
    """Counts of CPUs: logical, physical, and those this process may use."""
    try:
        allowed = psutil.Process().cpu_affinity()  # type: ignore[attr-defined,unused-ignore]  # not on macOS
    except (AttributeError, *_GONE):
        allowed = None
    return {
        "logical_cpus": psutil.cpu_count(),
        "physical_cores": psutil.cpu_count(logical=False),
        "affinity_cpus": len(allowed) if allowed else None,
    }


def memory() -> dict[str, int | None]:
    """Memory and swap of the machine."""
    try:
        ram, swap = psutil.virtual_memory(), psutil.swap_memory()
    except (RuntimeError, *_GONE):
        return {}
    return {
        "memory_total_bytes": ram.total,
        "memory_available_bytes": ram.available,
        "swap_total_bytes": swap.total,
        "swap_used_bytes": swap.used,
        "swapped_in_bytes": swap.sin,
        "swapped_out_bytes": swap.sout,
    }


def clock_hz() -> tuple[float | None, float | None]:
    """Current and highest CPU clock."""
    try:
        clock = psutil.cpu_freq()
    except _GONE:
        return None, None
    return (clock.current * 1e6, clock.max * 1e6 or None) if clock else (None, None)
