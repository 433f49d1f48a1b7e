"""Somebody else's processes use the accelerator."""

from __future__ import annotations

from pacenote.findings import readings
from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary


class AcceleratorShared:
    """Any other compute process counts: time slicing halves the device, and nothing tells when it will start to."""

    name = "accelerator_shared"
    passing = True

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Look at the device's processes right before the trial."""
        count = readings.accelerator(record).get("other_process_count")
        return unhealthy(self.name, process_count=count) if count else []


PART = AcceleratorShared()
