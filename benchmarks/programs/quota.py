"""A control group with a CPU quota, for as long as it is needed. Needs the right to make groups (root, mostly)."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

PERIOD_US = 100_000
LEAVE_S = 10.0
"""How long a process that has ended may take to leave its group."""


def hierarchy() -> tuple[int, str]:
    """Version and mount point of the hierarchy that has the CPU controller.

    Raises:
        OSError: If there is none.
    """
    second = ""
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            _, point, kind, options, *_ = line.split()
            if kind == "cgroup" and "cpu" in options.split(","):
                return 1, point
            if kind == "cgroup2":
                second = point
    if not second:
        raise OSError("no control groups")
    return 2, second


def write(path: str, text: str) -> None:
    """Write one kernel file."""
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


@contextlib.contextmanager
def quota(cpus: float) -> Iterator[str]:
    """Make a group with so many CPUs' worth of time; yields its folder and removes it afterwards.

    Raises:
        OSError: If this is not allowed here.
    """
    version, root = hierarchy()
    folder = os.path.join(root, f"pacenote-health-{os.getpid()}")
    if version == 2:
        write(os.path.join(root, "cgroup.subtree_control"), "+cpu")
    os.mkdir(folder)
    try:
        amount_us = round(cpus * PERIOD_US)
        if version == 2:
            write(os.path.join(folder, "cpu.max"), f"{amount_us} {PERIOD_US}")
        else:
            write(os.path.join(folder, "cpu.cfs_period_us"), str(PERIOD_US))
            write(os.path.join(folder, "cpu.cfs_quota_us"), str(amount_us))
        yield folder
    finally:
        remove(folder)


def remove(folder: str) -> None:
    """Remove the group once its last process has left."""
    deadline_s = time.monotonic() + LEAVE_S
    while True:
        try:
            os.rmdir(folder)
            return
        except OSError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.05)
