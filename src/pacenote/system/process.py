"""One process and everything below it: memory, CPU time, faults, switches."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

from pacenote.records import Reading
from pacenote.system.load import TICK_S
from pacenote.system.reader import Reader, number


@dataclass(frozen=True)
class Usage:
    """What one process has used since it started; children that have ended are inside."""

    cpu_s: float
    minor_faults: int | None = None
    major_faults: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None


@dataclass(frozen=True)
class Footprint:
    """Memory of a process tree at one moment.

    Attributes:
        rss_bytes: Sum of resident memory; pages shared between processes count once for each.
        rss_peak_bytes: Highest resident memory of the first process alone.
        pss_bytes: Sum of proportional memory: a page shared by n processes counts 1/n for each, so the sum is
            true.
        swap_bytes: What of the tree is in swap.
        processes: How many processes there were.
    """

    rss_bytes: Reading
    rss_peak_bytes: Reading
    pss_bytes: Reading
    swap_bytes: Reading
    processes: int


def tree(pid: int, reader: Reader | None = None) -> list[int]:
    """Ids of the process and of every process below it, the process first."""
    reader = reader or Reader()
    if reader.live and not reader.exists("/proc/self"):
        from pacenote.system import portable

        return [pid, *portable.descendants(pid)]
    found = [pid]
    for parent in found:  # grows while it is walked: breadth first
        for task in reader.names(f"/proc/{parent}/task"):
            children = reader.text(f"/proc/{parent}/task/{task}/children") or ""
            below = [number(child) for child in children.split()]
            found.extend(child for child in below if child is not None and child not in found)
    return found


def usage(pid: int, reader: Reader | None = None) -> Usage | None:
    """CPU time, faults and switches of one process, or ``None`` if it is not there."""
    reader = reader or Reader()
    text = reader.text(f"/proc/{pid}/stat")
    if text is None:
        return _portable_usage(pid) if reader.live and not reader.exists("/proc/self") else None
    # The command may hold blanks and brackets, so count from the last bracket: what follows is field 3 of
    # proc(5).
    words = text.rpartition(")")[2].split()
    counts = [number(word) for word in words[7:15]]
    if len(counts) < 8 or None in counts:
        return None  # cut off while the process ended
    minor, minor_ended, major, major_ended, user, system, user_ended, system_ended = (one or 0 for one in counts)
    own, ended = user + system, user_ended + system_ended
    precise = _cpu_clock_s(pid) if reader.live else None
    voluntary, involuntary = _switches(pid, reader)
    return Usage(
        cpu_s=(own * TICK_S if precise is None else precise) + ended * TICK_S,
        minor_faults=minor + minor_ended,
        major_faults=major + major_ended,
        voluntary_switches=voluntary,
        involuntary_switches=involuntary,
    )


def footprint(pid: int, reader: Reader | None = None) -> Footprint:
    """Memory of a process and everything below it.

    Reading PSS walks the page tables (35 ms for a process of 1 GB, measured), so call this while it is
    paused.
    """
    reader = reader or Reader()
    pids = tree(pid, reader)
    if reader.live and not reader.exists("/proc/self"):
        return _portable_footprint(pids)
    status = [reader.fields(f"/proc/{one}/status", ":") for one in pids]
    rollup = [reader.fields(f"/proc/{one}/smaps_rollup", ":") for one in pids]
    return Footprint(
        rss_bytes=_reading(_sum(status, "VmRSS"), "process_gone"),
        rss_peak_bytes=_reading(_sum(status[:1], "VmHWM"), "process_gone"),
        pss_bytes=_reading(_sum(rollup, "Pss"), "process_gone" if not any(status) else "no_smaps_rollup"),
        swap_bytes=_reading(_sum(status, "VmSwap"), "process_gone"),
        processes=sum(1 for one in status if one),
    )


def _sum(tables: list[dict[str, str]], key: str) -> int | None:
    """Sum a size in kB over those processes that still answer; ``None`` if none does."""
    sizes = [number(table.get(key)) for table in tables]
    known = [size for size in sizes if size is not None]
    return 1024 * sum(known) if known else None


def _reading(value: float | None, reason: str) -> Reading:
    return Reading(reason=reason) if value is None else Reading(value=float(value), method="measured")


def _cpu_clock_s(pid: int) -> float | None:
    """CPU time of a process in nanosecond steps, where /proc/<pid>/stat has steps of 10 ms.

    Linux gives every process a clock whose id is the complement of the pid, shifted, with 2 for "scheduler
    time" (kernel include/linux/posix-timers.h, CPUCLOCK_SCHED; it is what clock_getcpuclockid(3) returns).
    """
    if sys.platform != "linux":
        return None
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return None


def _switches(pid: int, reader: Reader) -> tuple[int | None, int | None]:
    """Context switches over all threads; /proc/<pid>/status alone has those of the main thread only."""
    totals = [0, 0]
    seen = False
    for task in reader.names(f"/proc/{pid}/task"):
        table = reader.fields(f"/proc/{pid}/task/{task}/status", ":")
        for at, key in enumerate(("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")):
            count = number(table.get(key))
            if count is not None:
                totals[at] += count
                seen = True
    return (totals[0], totals[1]) if seen else (None, None)


def _portable_usage(pid: int) -> Usage | None:
    from pacenote.system import portable

    found: dict[str, Any] = portable.process(pid)
    if "cpu_s" not in found:
        return None
    faults, major = found.get("faults"), found.get("major_faults")
    minor = faults - major if faults is not None and major is not None else None
    return Usage(cpu_s=found["cpu_s"], minor_faults=minor, major_faults=major)


def _portable_footprint(pids: list[int]) -> Footprint:
    from pacenote.system import portable

    found = [portable.process(pid) for pid in pids]
    sizes = [one["rss_bytes"] for one in found if one.get("rss_bytes") is not None]
    return Footprint(
        rss_bytes=_reading(sum(sizes) if sizes else None, "process_gone"),
        rss_peak_bytes=_reading(found[0].get("rss_peak_bytes"), "not_on_this_system"),
        pss_bytes=Reading(reason="not_on_this_system"),
        swap_bytes=Reading(reason="not_on_this_system"),
        processes=len(sizes),
    )
