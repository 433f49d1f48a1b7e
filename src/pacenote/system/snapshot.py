"""The state of the machine right before a child starts; stored as ``TrialRecord.before``."""

from __future__ import annotations

from typing import Any

from pacenote.system import accelerators, cgroup, cpu, load, thermal
from pacenote.system.reader import Reader


def snapshot(reader: Reader | None = None) -> dict[str, Any]:
    """Describe the machine at this moment.

    Returns:
        A dictionary of JSON values; ``None`` where there is no such reading:

        - ``logical_cpus``, ``physical_cores``, ``affinity_cpus``, ``quota_cpus``;
        - ``load_1min``, ``running_tasks`` (tasks that want a CPU, the reader included);
        - ``pressure_cpu_share``, ``pressure_memory_share``, ``pressure_io_share``: PSI "some" over the last
          10 s;
        - ``memory_total_bytes``, ``memory_available_bytes``, ``memory_limit_bytes``;
        - ``swap_total_bytes``, ``swap_used_bytes``;
        - ``throttled_count``: of our control group since it was made;
        - ``cpu_clock_hz``, ``cpu_clock_max_hz``, ``cpu_temperature_c``, ``cpu_critical_c``,
          ``thermal_throttle_count``;
        - ``accelerators``: one dictionary each, see :func:`pacenote.system.accelerators.state`.
    """
    reader = reader or Reader()
    clock_hz, clock_max_hz = thermal.clock_hz(reader)
    throttled = cgroup.throttling(reader)
    return {
        **cpu.counts(reader),
        **load.queue(reader),
        **{
            f"pressure_{resource}_share": load.pressure(reader, resource).get("some_avg10_share")
            for resource in ("cpu", "memory", "io")
        },
        **load.memory(reader),
        "memory_limit_bytes": cgroup.memory_limit_bytes(reader),
        "throttled_count": max((one.count for one in throttled.values()), default=None),
        "cpu_clock_hz": clock_hz,
        "cpu_clock_max_hz": clock_max_hz,
        "cpu_temperature_c": thermal.temperature_c(reader),
        "cpu_critical_c": thermal.critical_c(reader),
        "thermal_throttle_count": thermal.throttle_count(reader),
        "accelerators": accelerators.state() if reader.live else [],
    }
