"""Pages were read from disk inside the measured turns."""

from __future__ import annotations

from typing import Final

from pacenote.findings import readings
from pacenote.findings.health import warning
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary

FEW: Final = 10
"""A handful is late loading of library code; each costs 0.1 ms (flash) to 10 ms (disk)."""


class MajorFaults:
    """The input files, or the program itself, were not yet in memory."""

    name = "major_faults"
    passing = True

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Count the faults of the measured turns."""
        count = readings.total(record, "major_faults")
        return warning(self.name, major_faults=int(count)) if count is not None and count >= FEW else []


PART = MajorFaults()
