"""The host gave this virtual machine's CPU time to other guests."""

from __future__ import annotations

from typing import Final

from pacenote.findings import readings
from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary

STEAL_SHARE: Final = 0.02
"""2 % of the CPU time asked for: below the smallest difference that can be seen (3 %). A quiet virtual machine showed
0.02 % (0.5 s in 45 minutes)."""


class Steal:
    """Stolen time is invisible to the process: its clock runs on and its CPU time does not tell."""

    name = "steal"
    passing = True

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Compare stolen time with the time that was wanted: used and stolen."""
        stolen_s, busy_s = readings.total(record, "steal_s"), readings.total(record, "machine_busy_s")
        wanted_s = (stolen_s or 0.0) + (busy_s or readings.total(record, "child_cpu_s") or 0.0)
        if not stolen_s or wanted_s <= 0 or stolen_s / wanted_s <= STEAL_SHARE:
            return []
        return unhealthy(self.name, steal_share=stolen_s / wanted_s)


PART = Steal()
