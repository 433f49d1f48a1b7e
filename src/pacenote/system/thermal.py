"""Heat and clocks of the CPU."""

from __future__ import annotations

from pacenote.system.reader import Reader, number

_CPUS = "/sys/devices/system/cpu"
_ZONES = "/sys/class/thermal"
_SENSORS = "/sys/class/hwmon"

# Names by which kernel drivers call the sensor of the CPU package: hwmon documentation (coretemp, k10temp),
# zenpower (third-party driver for AMD), and the thermal zones of Intel (x86_pkg_temp) and of ARM boards
# (cpu-thermal).
_CPU_SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal")
_CPU_ZONES = ("x86_pkg_temp", "cpu-thermal", "cpu_thermal", "soc-thermal")


def temperature_c(reader: Reader) -> float | None:
    """Temperature of the hottest CPU sensor, or ``None`` if there is none (virtual machines have none)."""
    found: list[int] = []
    for name in reader.names(_ZONES):
        if reader.text(f"{_ZONES}/{name}/type") in _CPU_ZONES:
            found.append(reader.integer(f"{_ZONES}/{name}/temp") or 0)
    for folder in _cpu_hwmon(reader):
        inputs = [name for name in reader.names(folder) if name.startswith("temp") and name.endswith("_input")]
        found.extend(reader.integer(f"{folder}/{name}") or 0 for name in inputs)
    known = [millidegree for millidegree in found if millidegree > 0]
    return max(known) / 1000 if known else None


def critical_c(reader: Reader) -> float | None:
    """Temperature at which the CPU protects itself, as its sensor states it."""
    found = [
        reader.integer(f"{folder}/{name}")
        for folder in _cpu_hwmon(reader)
        for name in reader.names(folder)
        if name.startswith("temp") and name.endswith("_crit")
    ]
    known = [millidegree for millidegree in found if millidegree]
    return min(known) / 1000 if known else None


def throttle_count(reader: Reader) -> int | None:
    """How often the hardware has slowed its cores or packages down for heat (Intel only), summed over CPUs.

    Kernel documentation, ABI/testing/sysfs-devices-system-cpu: thermal_throttle/core_throttle_count.
    """
    found = [
        reader.integer(f"{_CPUS}/{name}/thermal_throttle/{kind}_throttle_count")
        for name in _cpu_names(reader)
        for kind in ("core", "package")
    ]
    known = [count for count in found if count is not None]
    return sum(known) if known else None


def clock_hz(reader: Reader) -> tuple[float | None, float | None]:
    """Mean of the current clocks, and the highest clock that any CPU may reach."""
    now = [reader.integer(f"{_CPUS}/{name}/cpufreq/scaling_cur_freq") for name in _cpu_names(reader)]
    most = [reader.integer(f"{_CPUS}/{name}/cpufreq/cpuinfo_max_freq") for name in _cpu_names(reader)]
    running = [1e3 * kilohertz for kilohertz in now if kilohertz]
    highest = max((1e3 * kilohertz for kilohertz in most if kilohertz), default=None)
    if not running and reader.live and not reader.exists("/proc/self"):
        from pacenote.system import portable

        return portable.clock_hz()
    return (sum(running) / len(running) if running else None), highest


def governor(reader: Reader) -> str | None:
    """The clock policy of the first CPU."""
    return reader.text(f"{_CPUS}/cpu0/cpufreq/scaling_governor")


def _cpu_names(reader: Reader) -> list[str]:
    return [name for name in reader.names(_CPUS) if name.startswith("cpu") and number(name[3:]) is not None]


def _cpu_hwmon(reader: Reader) -> list[str]:
    folders = [f"{_SENSORS}/{name}" for name in reader.names(_SENSORS)]
    return [folder for folder in folders if reader.text(f"{folder}/name") in _CPU_SENSORS]
