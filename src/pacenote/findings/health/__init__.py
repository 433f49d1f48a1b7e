"""Health: was the machine fit to measure on while a trial ran. One check per file, found by folder scan.

A check looks at one trial and says what was wrong with it. Thresholds answer to two tests: no undisturbed run is
refused, and no run sick enough to move a ratio by the smallest difference that can be seen (3 %) gets through.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol, runtime_checkable

from pacenote.records import Environment, Finding, Severity, TrialRecord
from pacenote.registry import Registry
from pacenote.stats import TrialSummary


class HealthCheck(Protocol):
    """One thing that can be wrong with the conditions of a trial."""

    @property
    def name(self) -> str:
        """Name of the check; its findings' code."""
        ...

    @property
    def passing(self) -> bool:
        """Whether it may hit one process and spare the next, so that the others can still be used."""
        ...

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Findings about this trial: none when it is healthy or the readings are missing."""
        ...


@runtime_checkable
class ComparesProcesses(Protocol):
    """What a check has besides when its finding weighs more if the processes of a cell differ."""

    def differs(self, summaries: Sequence[TrialSummary]) -> bool:
        """Whether the processes differ so much that the finding, where it was made, forbids a ratio."""
        ...


CHECKS: Final[Registry[HealthCheck]] = Registry("health check", __name__, "pacenote.health")


def unhealthy(code: str, **params: Any) -> list[Finding]:
    """The finding that no ratio may be printed from this trial."""
    return [Finding(code=code, severity=Severity.UNHEALTHY, params=params)]


def warning(code: str, **params: Any) -> list[Finding]:
    """The finding that a number is weaker than it looks."""
    return [Finding(code=code, severity=Severity.WARNING, params=params)]
