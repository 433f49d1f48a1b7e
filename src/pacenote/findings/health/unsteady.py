"""The step time did not settle."""

from __future__ import annotations

from typing import Final

from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary

DRIFT_SHARE: Final = 0.20
"""Last third against first. Quiet processes drift by up to 6 %, a processor that leaves its turbo by 10 to 15 %."""

DRIFT_ERRORS: Final = 4.0
"""And by more than chance: four standard errors of the two medians."""


class Unsteady:
    """A number for the typical step means little while that step changes."""

    name = "unsteady"
    passing = True

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Look at the drift of the measured steps and at whether a level was ever reached."""
        drift, error = summary.drift_share, summary.drift_error_share
        moving = summary.reason == "still_moving"
        drifting = drift is not None and abs(drift) > DRIFT_SHARE and abs(drift) > DRIFT_ERRORS * (error or 0.0)
        return unhealthy(self.name, drift_share=drift) if moving or drifting else []


PART = Unsteady()
