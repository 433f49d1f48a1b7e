"""The hardware slowed down because it was hot."""

from __future__ import annotations

from typing import Any, Final

from pacenote.findings import readings
from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary

NEAR_CRITICAL_C: Final = 3.0
"""Processors start to slow down at or just below the critical temperature that they report."""

SLOW_SHARE: Final = 0.8
"""Clock over the highest clock. All cores of a busy processor run below the highest clock of one core (by 10-20 %), so
only less than that, and only when hot, counts as slowed down."""

HOT_REASONS: Final = frozenset({"hardware_slowdown", "software_thermal", "hardware_thermal", "power_brake"})
"""Reasons for a lower accelerator clock; its ordinary power cap is not among them."""


class ThermalThrottle:
    """The kernel's throttle counter is proof; without it, a low clock at a critical temperature is."""

    name = "thermal_throttle"
    passing = True

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Look at the throttle counter, at clock and temperature, and at the accelerator's own account."""
        sensors = record.sensors
        temperature_c = sensors.cpu_temperature_c.value or readings.fact(record, environment, "cpu_temperature_c")
        clock_hz = sensors.cpu_clock_hz.value
        clock_max_hz = readings.fact(record, environment, "cpu_clock_max_hz")
        clock_share = clock_hz / clock_max_hz if clock_hz and clock_max_hz else None
        critical_c = readings.fact(record, environment, "cpu_critical_c")
        hot = temperature_c is not None and critical_c is not None and temperature_c >= critical_c - NEAR_CRITICAL_C
        slow = hot and clock_share is not None and clock_share < SLOW_SHARE
        if readings.total(record, "thermal_throttle_count") or slow:
            return unhealthy(self.name, temperature_c=temperature_c, clock_share=clock_share)
        device = readings.accelerator(record)
        if HOT_REASONS & set(device.get("slowed_by") or ()):
            return unhealthy(self.name, temperature_c=device.get("temperature_c"), clock_share=_clock_share(device))
        return []


def _clock_share(device: dict[str, Any]) -> float | None:
    clock_hz, clock_max_hz = device.get("clock_hz"), device.get("clock_max_hz")
    return clock_hz / clock_max_hz if clock_hz and clock_max_hz else None


PART = ThermalThrottle()
