"""Nothing but the cold start was measured."""

from __future__ import annotations

from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary


class ColdOnly:
    """The first steps of a process last two to several times as long as the rest; they compare start-ups."""

    name = "cold_only"
    passing = False

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Look at whether a steady state was reached at all."""
        if summary.steady or summary.reason == "still_moving":
            return []
        return unhealthy(self.name, steps=summary.steps + summary.dropped_steps)


PART = ColdOnly()
