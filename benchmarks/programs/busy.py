"""Other load: ``busy.py CPUS [CPU]`` keeps so many CPUs' worth of time busy until its standard input closes.

A fraction is spun in slices of 20 ms. With ``CPU`` all of it is pinned there.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import time

SLICE_S = 0.02


def spin(share: float, cpu: int | None, parent: int) -> None:
    """Use ``share`` of one CPU until the parent has gone."""
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    while os.getppid() == parent:
        began = time.perf_counter()
        while time.perf_counter() - began < SLICE_S * share:
            pass
        if share < 1.0:
            time.sleep(SLICE_S * (1.0 - share))


def main(cpus: float, cpu: int | None) -> None:
    """Start one process per CPU and wait."""
    context = multiprocessing.get_context("fork")
    shares = [1.0] * int(cpus) + ([cpus % 1.0] if cpus % 1.0 else [])
    assert len(shares) == math.ceil(cpus)
    workers = [context.Process(target=spin, args=(share, cpu, os.getpid()), daemon=True) for share in shares]
    for worker in workers:
        worker.start()
    sys.stdout.write("busy\n")
    sys.stdout.flush()
    sys.stdin.read()
    for worker in workers:
        worker.terminate()


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
