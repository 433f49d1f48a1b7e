"""So few steps that their median is rough."""

from __future__ import annotations

from typing import Final

from pacenote.findings.health import warning
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary

FEW: Final = 20
"""With a spread of 11 % between steps (LeNet on a quiet machine) the median of 20 is known to 3 %."""


class FewSteps:
    """Not wrong, only rough; the interval over processes says how rough."""

    name = "few_steps"
    passing = False

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Count the measured steps."""
        return warning(self.name, steps=summary.steps) if summary.steady and summary.steps < FEW else []


PART = FewSteps()
