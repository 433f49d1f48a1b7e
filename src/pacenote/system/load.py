"""What else the machine is doing: busy and stolen CPU time, pressure, swap traffic, memory."""

from __future__ import annotations

import os
from typing import Any, Final

from pacenote.system.reader import Reader, decimal, number

TICK_S: Final = 1 / (os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100)
"""Unit of the times in /proc/stat (proc(5): USER_HZ, 100 on every current Linux)."""

PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def busy_and_steal_s(reader: Reader) -> tuple[float | None, float | None]:
    """CPU seconds used by all processes and interrupts, and those the hypervisor gave to other guests."""
    for line in reader.lines("/proc/stat"):
        words = line.split()
        if words[:1] == ["cpu"] and len(words) >= 9:
            ticks = [int(word) if word.isdigit() else 0 for word in words[1:9]]
            # user nice system idle iowait irq softirq steal (proc(5)); guest time is already inside user.
            busy = sum(ticks) - ticks[3] - ticks[4] - ticks[7]
            return busy * TICK_S, ticks[7] * TICK_S
    if reader.live:
        from pacenote.system import portable

        return portable.busy_s(), None
    return None, None


def pressure(reader: Reader, resource: str) -> dict[str, float]:
    """Read pressure-stall information of ``cpu``, ``memory`` or ``io``.

    Format: kernel documentation, accounting/psi.rst.

    Returns:
        ``some_s``: seconds since start in which at least one task waited for the resource,
        ``some_avg10_share``: the share of the last 10 s; the same with ``full`` for all tasks. Empty where
        the kernel has no such file.
    """
    found: dict[str, float] = {}
    for line in reader.lines(f"/proc/pressure/{resource}"):
        kind, _, rest = line.partition(" ")
        values = dict(pair.split("=", 1) for pair in rest.split() if "=" in pair)
        total_us, average = number(values.get("total")), decimal(values.get("avg10"))
        if total_us is not None:
            found[f"{kind}_s"] = total_us * 1e-6
        if average is not None:
            found[f"{kind}_avg10_share"] = average / 100
    return found


def swapped_bytes(reader: Reader) -> tuple[float | None, float | None]:
    """Bytes read from and written to swap since the machine started."""
    table = reader.fields("/proc/vmstat")
    pages_in, pages_out = number(table.get("pswpin")), number(table.get("pswpout"))
    if pages_in is not None and pages_out is not None:
        return float(pages_in * PAGE_BYTES), float(pages_out * PAGE_BYTES)
    if reader.live and not table:
        from pacenote.system import portable

        found = portable.memory()
        return found.get("swapped_in_bytes"), found.get("swapped_out_bytes")
    return None, None


def memory(reader: Reader) -> dict[str, int | None]:
    """Memory and swap of the machine: total, available, used."""
    table = reader.fields("/proc/meminfo", ":")
    if not table and reader.live:
        from pacenote.system import portable

        found = portable.memory()
        return {name: found.get(name) for name in _MEMORY}
    sizes = {key: number(word) for key, word in table.items()}
    total, free = sizes.get("SwapTotal"), sizes.get("SwapFree")
    values = {
        "memory_total_bytes": sizes.get("MemTotal"),
        "memory_available_bytes": sizes.get("MemAvailable"),
        "swap_total_bytes": total,
        "swap_used_bytes": total - free if total is not None and free is not None else None,
    }
    return {name: None if value is None else value * 1024 for name, value in values.items()}  # the file is in KiB


def queue(reader: Reader) -> dict[str, Any]:
    """Load average of one minute and the number of tasks that want a CPU right now (this one included)."""
    words = (reader.text("/proc/loadavg") or "").split()
    running = number(words[3].partition("/")[0]) if len(words) > 3 else None
    return {"load_1min": decimal(words[0]) if words else None, "running_tasks": running}


_MEMORY: Final = ("memory_total_bytes", "memory_available_bytes", "swap_total_bytes", "swap_used_bytes")
