"""Control groups, version 1 and 2: CPU quota, throttling and memory limit of a process.

A process sits in a path of groups; a quota on any level of the path holds for everything below it, so every
level is read and the tightest counts. Formats: kernel documentation, admin-guide/cgroup-v2.rst ("cpu.max",
"cpu.stat") and scheduler/sched-bwc.rst ("cpu.cfs_quota_us", "cpu.stat" of version 1).
"""

from __future__ import annotations

from dataclasses import dataclass

from pacenote.system.reader import Reader, number

_UNLIMITED_BYTES = 1 << 60  # version 1 writes a page-aligned 2^63 for "no limit"; no machine has an exbibyte


@dataclass(frozen=True)
class Throttling:
    """How much one group was held back since it was made."""

    seconds: float
    count: int


def levels(reader: Reader, controller: str, pid: int | str = "self") -> tuple[int, list[str]]:
    """Find the folders of a process's groups, innermost first.

    Args:
        reader: Where to read.
        controller: ``"cpu"`` or ``"memory"``.
        pid: The process.

    Returns:
        The version of the hierarchy that has the controller (0: none), and the folders.
    """
    version, mount_root, mount_point = _mount(reader, controller)
    path = _path(reader, controller if version == 1 else "", pid)
    if version == 0 or path is None:
        return 0, []
    # Inside a container the path may be told from the host's root, while the mount shows only the container's
    # part.
    if mount_root != "/" and (path + "/").startswith(mount_root + "/"):
        path = path[len(mount_root) :]
    elif mount_root != "/" or path.startswith("/.."):
        path = ""
    parts = [part for part in path.split("/") if part]
    return version, ["/".join([mount_point, *parts[:depth]]) for depth in range(len(parts), -1, -1)]


def quota_cpus(reader: Reader, pid: int | str = "self") -> float | None:
    """CPUs' worth of time that the process may use per second, or ``None`` without a quota."""
    version, folders = levels(reader, "cpu", pid)
    found = [_quota_v2(reader, folder) if version == 2 else _quota_v1(reader, folder) for folder in folders]
    return min((quota for quota in found if quota is not None), default=None)


def throttling(reader: Reader, pid: int | str = "self") -> dict[str, Throttling]:
    """Throttling of every group of the process that has counters, by folder."""
    version, folders = levels(reader, "cpu", pid)
    found: dict[str, Throttling] = {}
    for folder in folders:
        stat = reader.fields(f"{folder}/cpu.stat")
        count = number(stat.get("nr_throttled"))
        time = number(stat.get("throttled_usec" if version == 2 else "throttled_time"))
        if count is not None and time is not None:
            found[folder] = Throttling(time * (1e-6 if version == 2 else 1e-9), count)
    return found


def memory_limit_bytes(reader: Reader, pid: int | str = "self") -> int | None:
    """The tightest memory limit on the process, or ``None`` without one."""
    version, folders = levels(reader, "memory", pid)
    name = "memory.max" if version == 2 else "memory.limit_in_bytes"
    found = [reader.integer(f"{folder}/{name}") for folder in folders]
    return min((limit for limit in found if limit is not None and limit < _UNLIMITED_BYTES), default=None)


def version(reader: Reader) -> int:
    """Version of the hierarchy that holds the CPU controller; 0 if there is none."""
    return _mount(reader, "cpu")[0]


def _quota_v2(reader: Reader, folder: str) -> float | None:
    words = (reader.text(f"{folder}/cpu.max") or "").split()
    if len(words) != 2 or words[0] == "max":
        return None
    quota_us, period_us = number(words[0]), number(words[1])
    return quota_us / period_us if quota_us and period_us else None


def _quota_v1(reader: Reader, folder: str) -> float | None:
    quota_us = reader.integer(f"{folder}/cpu.cfs_quota_us")
    period_us = reader.integer(f"{folder}/cpu.cfs_period_us")
    return quota_us / period_us if quota_us and period_us and quota_us > 0 else None


def _mount(reader: Reader, controller: str) -> tuple[int, str, str]:
    """Version, root inside the hierarchy, and mount point; version 1 first, for it owns what it mounts."""
    second: tuple[int, str, str] = (0, "/", "")
    for line in reader.lines("/proc/self/mountinfo"):
        left, _, right = line.partition(" - ")
        place, kind = left.split(), right.split()
        if len(place) < 5 or not kind:
            continue
        if kind[0] == "cgroup" and controller in kind[-1].split(","):
            return 1, place[3], place[4]
        if kind[0] == "cgroup2" and not second[0]:
            second = (2, place[3], place[4])
    return second


def _path(reader: Reader, controller: str, pid: int | str) -> str | None:
    """The process's path in one hierarchy; controller ``""`` is version 2's single one."""
    for line in reader.lines(f"/proc/{pid}/cgroup"):
        words = line.split(":", 2)
        if len(words) == 3 and controller in words[1].split(","):
            return words[2]
    return None
