"""The sick states that can really be made on this machine, each at three severities."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

SICK_SITE: Final = str(Path(__file__).resolve().parent / "sick_site")
SEVERITIES: Final = ("mild", "moderate", "severe")

SHORT: Final[dict[str, Any]] = {"warmup_s": 0.3, "turn_s": 0.2, "turns": 5}
BATCHES: Final[dict[str, Any]] = {"batch_size": [64, 128], "threads": [1]}


@dataclass(frozen=True)
class Injection:
    """One sick state.

    Attributes:
        kind: What is wrong.
        severity: How much.
        expected: Findings of which at least one should name it.
        options: What is run (fields of RunOptions).
        quota_cpus: CPU quota of everything that runs.
        busy: CPUs' worth of other load, and the CPU it is pinned to.
        cpus: CPUs that the run may use.
        environ: Variables that make the child sick.
    """

    kind: str
    severity: str
    expected: tuple[str, ...]
    options: dict[str, Any]
    quota_cpus: float | None = None
    busy: tuple[float, int | None] | None = None
    cpus: str = "-"
    environ: dict[str, str] = field(default_factory=dict)


def study(**changes: Any) -> dict[str, Any]:
    """A short study of two cells with two rounds; without trouble it prints one ratio."""
    base: dict[str, Any] = {
        "workload": "simplenet",
        "frameworks": ["pytorch"],
        "devices": ["cpu"],
        "axes": BATCHES,
        "rounds": 2,
        "effort": SHORT,
        "time_budget_s": None,
        "resume": False,
    }
    return {**base, **changes}


def sick(environ_kind: str, **options: Any) -> dict[str, Any]:
    """Options and variables of a study whose first cell alone is made sick from inside (two threads counts apart)."""
    return {
        "options": study(**options),
        "environ": {"PACENOTE_SICK": environ_kind, "PACENOTE_SICK_THREADS": "1", "PYTHONPATH": SICK_SITE},
    }


def everything() -> list[Injection]:
    """Every injection, kinds in turn."""
    cpus = len(os.sched_getaffinity(0))
    one = str(min(os.sched_getaffinity(0)))
    two_threads = {"threads": [1, 2], "batch_size": [64]}
    trimmed = {"workload": "lenet", "data_mode": "device", "axes": {"threads": [1, 2], "batch_size": [256]}}
    found: list[Injection] = []
    for at, severity in enumerate(SEVERITIES):
        many = cpus * (2, 4, 8)[at]
        found += [
            Injection(
                "threads over cores", severity, ("threads_over_cores",),
                study(axes={"threads": [1, many], "batch_size": [64]}),
            ),
            Injection(
                "threads over quota", severity, ("threads_over_quota",),
                study(axes=two_threads), quota_cpus=(1.5, 1.2, 1.0)[at],
            ),
            Injection(
                "cgroup throttled", severity, ("cgroup_throttled",), study(), quota_cpus=(0.9, 0.7, 0.45)[at]
            ),
            Injection(
                "other load", severity, ("other_load", "cpu_starved"),
                study(axes={"batch_size": [64, 128], "threads": [cpus]}), busy=((0.25, 0.5, 1.5)[at] * cpus, None),
            ),
            Injection(
                "CPU taken", severity, ("cpu_starved", "other_load"), study(), busy=((1, 2, 4)[at], int(one)), cpus=one
            ),
            Injection(
                "debug mode", severity, ("debug_mode",),
                **sick(("anomaly_quiet", "anomaly", "anomaly_profiler")[at], axes=two_threads),
            ),
            Injection(
                "allocator trimming", severity, ("allocator_trimming",),
                **sick(("trim:5", "trim:3", "trim:2")[at], **trimmed),
            ),
            Injection(
                "cold first step", severity, ("cold_only",),
                study(effort={"warmup_s": 0.0, "turns": 1, "max_steps": (3, 2, 1)[at]}),
            ),
        ]  # fmt: skip
    return found
