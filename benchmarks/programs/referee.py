"""Watches whether anybody else uses the machine: ``referee.py PID [PID …]`` until its standard input closes.

It shares no code with Pacenote. Twice a second it reads the CPU time of every process and adds up those that are
neither one of the given ones nor below them; what came and went between two readings shows as the part of the
machine's busy time that no process explains. Its verdict is one JSON line.
"""

from __future__ import annotations

import json
import os
import selectors
import sys
import time
from typing import Any

INTERVAL_S = 0.5

# Fixed before the first run. Two hundredths of a CPU is what an idle Linux machine with a few daemons uses; a burst of
# 0.15 CPUs for half a second is 75 ms, less than a third of one measured turn.
MEAN_CPUS = 0.02
WORST_CPUS = 0.15
UNEXPLAINED_CPUS = 0.05  # /proc/stat counts in steps of 10 ms per CPU and field, so this one is coarser
STEAL_SHARE = 0.01

Table = dict[int, tuple[int, float]]


def processes() -> Table:
    """Id → parent and CPU seconds of every process. Ended children stay out: their past would arrive in one jump."""
    found: Table = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stream:
                words = stream.read().rpartition(")")[2].split()
            own_s = time.clock_gettime((~int(name) << 3) | 2)
        except (OSError, ValueError):
            continue  # it has just ended
        found[int(name)] = (int(words[1]), own_s)
    return found


def ours(table: Table, roots: set[int]) -> set[int]:
    """The given processes and everything below them."""
    found = set(roots)
    grown = True
    while grown:
        below = {pid for pid, (parent, _) in table.items() if parent in found} - found
        found |= below
        grown = bool(below)
    return found


def machine() -> tuple[float, float]:
    """Busy and stolen CPU seconds of the whole machine."""
    with open("/proc/stat", encoding="utf-8") as stream:
        ticks = [int(word) for word in stream.readline().split()[1:9]]
    tick_s = 1.0 / os.sysconf("SC_CLK_TCK")
    return (sum(ticks) - ticks[3] - ticks[4] - ticks[7]) * tick_s, ticks[7] * tick_s


def used(before: Table, after: Table, mine: set[int]) -> tuple[float, float]:
    """CPU seconds of the others and of ours between two readings; the worker that appeared counts from zero."""
    other_s = own_s = 0.0
    for pid, (_, cpu_s) in after.items():
        grown = max(0.0, cpu_s - before.get(pid, (0, 0.0))[1])
        if pid in mine:
            own_s += grown
        elif pid in before:  # one of the others that is new may be old and unseen; the unexplained part has it
            other_s += grown
    return other_s, own_s


def verdict(windows: list[dict[str, float]]) -> dict[str, Any]:
    """Judge the run by its windows."""
    seconds = sum(window["seconds"] for window in windows)
    if not windows:
        return {"undisturbed": False, "why": "no window", "seconds": 0.0}
    mean = sum(window["other_s"] for window in windows) / seconds
    worst = max(window["other_s"] / window["seconds"] for window in windows)
    unexplained = sum(window["busy_s"] - window["other_s"] - window["own_s"] for window in windows) / seconds
    steal = sum(window["steal_s"] for window in windows) / seconds / (os.cpu_count() or 1)
    found = {"mean_cpus": mean, "worst_cpus": worst, "unexplained_cpus": unexplained, "steal_share": steal}
    limits = {
        "mean_cpus": MEAN_CPUS,
        "worst_cpus": WORST_CPUS,
        "unexplained_cpus": UNEXPLAINED_CPUS,
        "steal_share": STEAL_SHARE,
    }
    over = [name for name, limit in limits.items() if found[name] > limit]
    rounded = {name: round(value, 4) for name, value in found.items()}
    return {"undisturbed": not over, "why": ", ".join(over), "seconds": round(seconds, 2), **rounded}


def main(roots: set[int]) -> None:
    """Watch until standard input closes."""
    os.nice(5)
    roots = roots | {os.getpid()}
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ)
    windows: list[dict[str, float]] = []
    at_s, table, (busy_s, steal_s) = time.perf_counter(), processes(), machine()
    sys.stdout.write("watching\n")
    sys.stdout.flush()
    ended = False
    while not ended:
        ended = bool(selector.select(INTERVAL_S))
        now_s, now, (now_busy_s, now_steal_s) = time.perf_counter(), processes(), machine()
        if now_s - at_s < INTERVAL_S / 2:
            break  # the last window is too short to judge a rate by
        other_s, own_s = used(table, now, ours(now, roots))
        windows.append(
            {
                "seconds": now_s - at_s,
                "other_s": other_s,
                "own_s": own_s,
                "busy_s": now_busy_s - busy_s,
                "steal_s": now_steal_s - steal_s,
            }
        )
        at_s, table, busy_s, steal_s = now_s, now, now_busy_s, now_steal_s
    sys.stdout.write(json.dumps(verdict(windows)) + "\n")


if __name__ == "__main__":
    main({int(argument) for argument in sys.argv[1:]})
