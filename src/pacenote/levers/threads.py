"""Threads of the framework's operator pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacenote.levers import Lever
from pacenote.records import Scalar

LIMITS = ("quota_cpus", "physical_cores", "affinity_cpus")


class Threads(Lever):
    """How many threads compute one operator.

    The default is the smallest of CPU quota, physical cores and allowed CPUs: more threads than that wait for each
    other at every operator (measured on 2 busy cores: LeNet b32 5 ms a step with 1 thread, 29-350 ms with 2 spinning).
    """

    name = "threads"
    option = "--threads"
    help = "Threads that compute one operator."
    risk = "numerics"  # sums are split differently

    def parse(self, text: str) -> Scalar:
        """Read a whole number from 1."""
        return self.whole_number(text, 1, 4096)

    def default(self, machine: Mapping[str, Any], workload: str) -> Scalar:
        """Smallest known limit of the machine, at least one."""
        known = [int(machine[limit]) for limit in LIMITS if machine.get(limit)]
        return max(1, min(known, default=1))

    def environ(self, value: Scalar) -> dict[str, str]:
        """Set it before the runtimes start, too: some read it only then."""
        count = str(int(value or 1))
        return dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), count)


PART = Threads()
