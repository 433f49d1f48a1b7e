"""The side process that samples what must be sampled in time: ``python -m pacenote.system.sampler``.

It lowers its own priority, writes one JSON object a line, and ends when its standard input closes, so that it
cannot outlive the run that started it. Every line has ``t_s`` (the monotonic clock, shared by all processes
of a machine).
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from pacenote.system import accelerators, process
from pacenote.system.reader import Reader, number


def main(arguments: Sequence[str] | None = None) -> int:
    """Sample until standard input closes."""
    parser = argparse.ArgumentParser(prog="pacenote.system.sampler")
    parser.add_argument("--index", type=int, default=None, help="NVML index of the accelerator")
    parser.add_argument("--pid", type=int, default=None, help="process whose memory is sampled")
    parser.add_argument("--interval-s", type=float, default=0.1)
    options = parser.parse_args(arguments)
    if hasattr(os, "nice"):
        os.nice(10)  # never ahead of what is measured
    session, reason = accelerators.connect()
    if session is None or options.index is None or options.index >= len(session.handles):
        sys.stdout.write(json.dumps({"t_s": time.perf_counter(), "reason": reason or "no_such_device"}) + "\n")
        return 0
    loop(lambda: sample(session, options.index, options.pid), sys.stdout, wait_for_end(options.interval_s))
    session.close()
    return 0


def sample(session: accelerators.Nvml, index: int, pid: int | None) -> dict[str, Any]:
    """One line: the accelerator's state, and resident memory of the process if one is given."""
    line: dict[str, Any] = {"t_s": time.perf_counter(), **session.sample(index)}
    if pid is not None:
        size = number(Reader().fields(f"/proc/{pid}/status", ":").get("VmRSS"))
        line["rss_bytes"] = None if size is None else size * 1024
        line["processes"] = 0 if size is None else len(process.tree(pid))
    return line


def loop(take: Callable[[], dict[str, Any]], out: TextIO, ended: Callable[[], bool]) -> None:
    """Write a line, wait, and again, until ``ended`` says so or nobody reads any more."""
    while True:
        try:
            out.write(json.dumps(take()) + "\n")
            out.flush()
        except BrokenPipeError:
            return
        if ended():
            return


def wait_for_end(interval_s: float) -> Callable[[], bool]:
    """Make a wait of one interval that ends early, with ``True``, when standard input closes."""
    if sys.platform == "win32":  # select() takes only sockets there; the broken output pipe ends the loop

        def nap() -> bool:
            time.sleep(interval_s)
            return False

        return nap
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ)
    return lambda: bool(selector.select(interval_s))


if __name__ == "__main__":
    sys.exit(main())
