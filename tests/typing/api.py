"""Code as a user of the package would write it; checked by ``mypy --strict``, run by tests/unit/test_exports.py."""

from __future__ import annotations

from pathlib import Path

from pacenote import Finding, PacenoteError, Study, TrialRecord, TrialSpec, __version__
from pacenote.records import Severity
from pacenote.store import Store
from pacenote.units import seconds


def worst(study: Study) -> list[Finding]:
    """Findings that stop a number from being printed."""
    return [finding for finding in study.findings if finding.severity is Severity.UNHEALTHY]


def describe(folder: Path) -> list[str]:
    """One line per trial of the newest run."""
    with Store(folder / "store.sqlite") as store:
        try:
            study = store.get_study("last")
        except PacenoteError as error:
            return [f"{__version__}: {error} ({error.exit_code})"]
        trials: list[TrialRecord] = store.trials(study.id, events=False)
    return [line(trial) for trial in trials]


def line(trial: TrialRecord) -> str:
    """Name, ending and time of the first step."""
    spec: TrialSpec = trial.spec
    first_s = trial.cold_start.first_step_s
    shown = "unknown" if first_s is None else seconds(first_s)
    return f"{spec.workload} {spec.framework} {trial.outcome.status.value} {shown}"
