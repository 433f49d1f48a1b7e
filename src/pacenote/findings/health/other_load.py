"""Other programs competed for the CPUs."""

from __future__ import annotations

from typing import Final

from pacenote.findings import readings
from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary

IDLE_CPUS: Final = 0.15
"""What an idle machine's own services may use. /proc/stat counts in ticks of 10 ms, which alone reads as up to 0.05
CPUs over six turns of 0.25 s; a neighbour that is busy a fifth of the time on a full machine costs some per cent."""

SPARE_USABLE: Final = 0.75
"""Share of the idle physical cores that others may use unnoticed: the scheduler does not place perfectly, and caches,
memory bandwidth and turbo are shared."""


class OtherLoad:
    """Others may use cores that the trial leaves idle, but not those it needs."""

    name = "other_load"
    passing = True

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Compare what others used with what the trial left over."""
        other_cpus = readings.share_of_wall(record, "other_cpu_s")
        if other_cpus is None or other_cpus <= IDLE_CPUS + SPARE_USABLE * _spare_cores(record, environment):
            return []
        return unhealthy(self.name, other_cpus=other_cpus)


def _spare_cores(record: TrialRecord, environment: Environment | None) -> float:
    """Physical cores that the trial leaves to others; 0 when that is not known."""
    cores = readings.physical_cores(record, environment)
    threads = readings.threads(record)
    if cores is None or threads is None:
        return 0.0
    busy = (threads if readings.on_cpu(record) else 1) + readings.workers(record)
    return max(0.0, float(cores - busy))


PART = OtherLoad()
