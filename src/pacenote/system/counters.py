"""The state of machine and child right before and after a turn, and what changed in between.

Both readings are taken while every measured child is paused, so they cost no measured time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pacenote.records import Counters
from pacenote.system import cgroup, load, process, thermal
from pacenote.system.reader import Reader


@dataclass(frozen=True)
class RawCounters:
    """Running totals at one moment; only differences of two mean anything.

    Attributes:
        t_s: Monotonic time of the reading.
        child: Use of each process of the measured tree, by id.
        own_cpu_s: CPU time of each of our other processes (this one, its samplers, children at rest), by id.
        throttling: Per control group of the child, by folder.
    """

    t_s: float
    child: dict[int, process.Usage] = field(default_factory=dict)
    own_cpu_s: dict[int, float] = field(default_factory=dict)
    busy_s: float | None = None
    steal_s: float | None = None
    pressure_cpu_s: float | None = None
    throttling: dict[str, cgroup.Throttling] = field(default_factory=dict)
    swapped_in_bytes: float | None = None
    swapped_out_bytes: float | None = None
    thermal_throttle_count: int | None = None


def read(pid: int, reader: Reader | None = None, *, own_pids: Iterable[int] | None = None) -> RawCounters:
    """Read everything once.

    Args:
        pid: The measured child; its descendants belong to it.
        reader: Where to read; the live machine by default.
        own_pids: Our processes; by default this one and everything below it. The measured tree is taken out.
    """
    reader = reader or Reader()
    tree = process.tree(pid, reader)
    own = process.tree(os.getpid(), reader) if own_pids is None else list(own_pids)
    uses = {one: process.usage(one, reader) for one in {*tree, *own}}
    known = {one: use for one, use in uses.items() if use is not None}
    busy_s, steal_s = load.busy_and_steal_s(reader)
    swapped_in, swapped_out = load.swapped_bytes(reader)
    return RawCounters(
        t_s=time.perf_counter(),
        child={one: known[one] for one in tree if one in known},
        own_cpu_s={one: known[one].cpu_s for one in own if one in known and one not in tree},
        busy_s=busy_s,
        steal_s=steal_s,
        pressure_cpu_s=load.pressure(reader, "cpu").get("some_s"),
        throttling=cgroup.throttling(reader, pid),
        swapped_in_bytes=swapped_in,
        swapped_out_bytes=swapped_out,
        thermal_throttle_count=thermal.throttle_count(reader),
    )


def difference(before: RawCounters, after: RawCounters, own_pids: Iterable[int] | None = None) -> Counters:
    """What happened between two readings of the same child.

    Args:
        before: The reading before the turn.
        after: The reading after it.
        own_pids: Which of the recorded own processes are ours; all of them by default.
    """
    child_cpu_s = _grown(_cpu_s(before.child), _cpu_s(after.child))
    ours = set(after.own_cpu_s) | set(before.own_cpu_s) if own_pids is None else set(own_pids)
    own_cpu_s = _grown(_of(before.own_cpu_s, ours), _of(after.own_cpu_s, ours))
    busy_s = _minus(after.busy_s, before.busy_s)
    # Machine time comes in steps of 10 ms, the child's in nanoseconds: a difference just below zero is that
    # rounding.
    other_s = None if busy_s is None else max(0.0, busy_s - child_cpu_s - own_cpu_s)
    throttled = _throttled(before, after)
    return Counters(
        wall_s=after.t_s - before.t_s,
        child_cpu_s=child_cpu_s,
        machine_busy_s=busy_s,
        other_cpu_s=other_s,
        steal_s=_minus(after.steal_s, before.steal_s),
        pressure_cpu_s=_minus(after.pressure_cpu_s, before.pressure_cpu_s),
        throttled_s=throttled.seconds if throttled else None,
        throttled_count=throttled.count if throttled else None,
        swapped_in_bytes=_minus(after.swapped_in_bytes, before.swapped_in_bytes),
        swapped_out_bytes=_minus(after.swapped_out_bytes, before.swapped_out_bytes),
        minor_faults=_change(before, after, lambda use: use.minor_faults, handed_on=True),
        major_faults=_change(before, after, lambda use: use.major_faults, handed_on=True),
        voluntary_switches=_change(before, after, lambda use: use.voluntary_switches, handed_on=False),
        involuntary_switches=_change(before, after, lambda use: use.involuntary_switches, handed_on=False),
        thermal_throttle_count=_whole(_minus(after.thermal_throttle_count, before.thermal_throttle_count)),
    )


def _cpu_s(uses: dict[int, process.Usage]) -> dict[int, float]:
    return {pid: use.cpu_s for pid, use in uses.items()}


def _of(table: dict[int, float], pids: set[int]) -> dict[int, float]:
    return {pid: value for pid, value in table.items() if pid in pids}


def _grown(before: dict[int, float], after: dict[int, float]) -> float:
    """Growth of a tree's sum. Not of each process: one that ends hands its whole past over to its parent."""
    return max(0.0, sum(after.values()) - sum(before.values()))


def _change(
    before: RawCounters, after: RawCounters, pick: Callable[[process.Usage], int | None], *, handed_on: bool
) -> int | None:
    """Change of a count over the tree.

    ``None`` where it is not kept, or where one that ended took its part along because the system does not
    hand this count on to the parent.
    """
    starts, ends = [[pick(use) for use in raw.child.values()] for raw in (before, after)]
    lost = not handed_on and before.child.keys() - after.child.keys()
    if not ends or None in starts or None in ends or lost:
        return None
    total = sum(end or 0 for end in ends) - sum(start or 0 for start in starts)
    return total if total >= 0 else None


def _throttled(before: RawCounters, after: RawCounters) -> cgroup.Throttling | None:
    """The worst level: nested groups that are held back at once would be counted twice in a sum."""
    common = [folder for folder in after.throttling if folder in before.throttling]
    changes = [
        cgroup.Throttling(
            after.throttling[folder].seconds - before.throttling[folder].seconds,
            after.throttling[folder].count - before.throttling[folder].count,
        )
        for folder in common
    ]
    return max(changes, key=lambda change: (change.seconds, change.count), default=None)


def _minus(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
