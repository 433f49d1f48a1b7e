"""Trials that are sick in one known way, three severities each, and a healthy one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
import numpy as np
from fake_trials import trial

from pacenote.records import LeverOutcome, Memory, Reading, Sensors, TrialRecord, TrialSpec

MACHINE: Final = {
    "logical_cpus": 4,
    "affinity_cpus": 4,
    "physical_cores": 4,
    "quota_cpus": None,
    "cpu_clock_max_hz": 4.0e9,
    "cpu_critical_c": 100.0,
    "cpu_temperature_c": 55.0,
}
QUIET: Final = {
    "machine_busy_s": 0.26,
    "other_cpu_s": 0.005,
    "steal_s": 0.0,
    "pressure_cpu_s": 0.002,
    "throttled_s": 0.0,
    "throttled_count": 0,
    "swapped_in_bytes": 0.0,
    "swapped_out_bytes": 0.0,
    "minor_faults": 60,
    "major_faults": 0,
    "thermal_throttle_count": 0,
}
"""Counters of a turn of 0.25 s on a quiet machine."""


def steps_s(turns: int = 7, count: int = 50, level_s: float = 5e-3, seed: int = 1) -> list[list[float]]:
    """Step times of a quiet process: 8 % spread, a cold first step, one spike in fifty."""
    random = np.random.default_rng(seed)
    made = level_s * np.exp(random.normal(0.0, 0.08, (turns, count)))
    made[random.random(made.shape) < 0.02] *= 2.0
    made[0, 0] *= 3.0
    return made.tolist()


def healthy(seed: int = 1, **changes: Any) -> TrialRecord:
    """A trial with nothing wrong; ``counters``, ``before``, ``threads`` and fields of the record can be changed."""
    threads = changes.pop("threads", 4)
    before = {**MACHINE, **changes.pop("before", {})}
    counters = {**QUIET, "wall_s": 0.25, "child_cpu_s": 0.5, **changes.pop("counters", {})}
    return trial(
        changes.pop("steps", None) or steps_s(seed=seed),
        levers={"batch_size": 32, "threads": threads, **changes.pop("levers", {})},
        before=before,
        counters=counters,
        framework={"name": "pytorch", "debug_flags": {"anomaly_mode": False, **changes.pop("flags", {})}},
        **changes,
    )


def counting(**counters: Any) -> TrialRecord:
    """A trial with other counters in every turn."""
    return healthy(counters=counters)


def on_device(**state: Any) -> TrialRecord:
    """A trial on an accelerator in some state."""
    spec = TrialSpec(workload="lenet", framework="pytorch", device="cuda:0")
    return healthy(spec=spec, before={"accelerators": [state]})


def ramp(end: float) -> list[list[float]]:
    """Steps that grow evenly to ``end`` times their first length."""
    factors = np.linspace(1.0, end, 350).reshape(7, 50)
    return (np.array(steps_s()) * factors).tolist()


def swapped(share: float) -> TrialRecord:
    """A trial with a share of its memory in swap."""
    kept = Reading(value=4e8 * (1 - share), method="measured")
    return healthy(memory=Memory(pss_bytes=kept, swap_bytes=Reading(value=4e8 * share, method="measured")))


def hot(clock_hz: float) -> TrialRecord:
    """A trial at the critical temperature with a lowered clock, on a machine without throttle counters."""
    sensors = Sensors(
        cpu_clock_hz=Reading(value=clock_hz, method="measured"),
        cpu_temperature_c=Reading(value=99.0, method="measured"),
    )
    return healthy(sensors=sensors, counters={"thermal_throttle_count": None})


def faulting(*per_step: int, **changes: Any) -> TrialRecord:
    """A trial whose turns fault so many times per step, in turn."""
    made = healthy(**changes)
    turns = [
        msgspec.structs.replace(
            turn,
            counters=msgspec.structs.replace(turn.counters, minor_faults=turn.steps * per_step[at % len(per_step)]),
        )
        for at, turn in enumerate(made.turns)
    ]
    return msgspec.structs.replace(made, turns=turns)


def two_lengths(slow: float) -> list[list[float]]:
    """Steps of which every second one lasts ``slow`` times as long."""
    factors = np.tile([1.0, slow], 175).reshape(7, 50)
    noise = np.exp(np.random.default_rng(5).normal(0.0, 0.02, (7, 50)))
    return (5e-3 * factors * noise).tolist()


Sick = Callable[[], TrialRecord]

SICK: Final[dict[str, list[Sick]]] = {
    "threads_over_cores": [
        lambda: healthy(threads=5),
        lambda: healthy(threads=8),
        lambda: healthy(threads=4, levers={}, before={"affinity_cpus": 2}),
    ],
    "threads_over_quota": [
        lambda: healthy(threads=2, before={"quota_cpus": 1.5}),
        lambda: healthy(threads=4, before={"quota_cpus": 2.0}),
        lambda: healthy(threads=4, before={"quota_cpus": 0.5}),
    ],
    "cgroup_throttled": [
        lambda: counting(throttled_s=0.004, throttled_count=1),
        lambda: counting(throttled_s=0.05, throttled_count=2),
        lambda: counting(throttled_s=None, throttled_count=1),
    ],
    "other_load": [
        lambda: counting(other_cpu_s=0.05),
        lambda: counting(other_cpu_s=0.25),
        lambda: healthy(threads=1, counters={"other_cpu_s": 0.65}),
    ],
    "cpu_starved": [
        lambda: counting(child_cpu_s=0.23),
        lambda: counting(child_cpu_s=0.15, other_cpu_s=0.03),
        lambda: counting(child_cpu_s=0.05, other_cpu_s=None),
    ],
    "steal": [
        lambda: counting(steal_s=0.01),
        lambda: counting(steal_s=0.04),
        lambda: counting(steal_s=0.2, machine_busy_s=None),
    ],
    "swapping": [
        lambda: counting(swapped_in_bytes=2e5),
        lambda: counting(swapped_out_bytes=5e7),
        lambda: swapped(0.05),
    ],
    "thermal_throttle": [
        lambda: counting(thermal_throttle_count=1),
        lambda: hot(2.8e9),
        lambda: on_device(slowed_by=["hardware_thermal"], temperature_c=91.0, clock_hz=9e8, clock_max_hz=1.8e9),
    ],
    "accelerator_shared": [
        lambda: on_device(other_process_count=1),
        lambda: on_device(other_process_count=2),
        lambda: on_device(other_process_count=9),
    ],
    "allocator_trimming": [
        lambda: faulting(250, 320, 280),
        lambda: healthy(steps=two_lengths(1.4), counters={"minor_faults": 50 * 1200}),
        lambda: healthy(levers={"allocator": "no_trim"}, counters={"minor_faults": 50 * 130}),
    ],
    "debug_mode": [
        lambda: healthy(flags={"anomaly_mode": True}),
        lambda: healthy(flags={"profiler": True}),
        lambda: healthy(flags={"anomaly_mode": True, "cuda_launch_blocking": True}),
    ],
    "cold_only": [
        lambda: healthy(steps=[[0.03]]),
        lambda: healthy(steps=[[0.03, 0.005], [0.005, 0.005]]),
        lambda: healthy(steps=[[0.03], [0.03, 0.005, 0.005, 0.005]]),
    ],
    "unsteady": [lambda: healthy(steps=ramp(1.5)), lambda: healthy(steps=ramp(2.0)), lambda: healthy(steps=ramp(0.5))],
}
"""Code → trials from which no ratio may be printed."""

WEAK: Final[dict[str, Sick]] = {
    "threads_over_cores": lambda: healthy(threads=4, before={"physical_cores": 2}),
    "debug_mode": lambda: healthy(flags={"deterministic_algorithms": True}),
    "few_steps": lambda: healthy(steps=[[0.4]] * 8),
    "allocator_trimming": lambda: counting(minor_faults=50 * 393),
    "major_faults": lambda: counting(major_faults=2),
}
"""Code → a trial that is only warned about."""


def observed_threads(count: int) -> TrialRecord:
    """Two threads were asked for, but so many were seen."""
    seen = [LeverOutcome(name="threads", asked=2, observed=count, applied=count == 2)]
    return msgspec.structs.replace(healthy(threads=2), levers=seen)
