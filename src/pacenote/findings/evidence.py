"""What is known about one cell: its trials, their summaries, and whether a ratio may be printed from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from pacenote.findings.codes import HEALTH
from pacenote.findings.health import CHECKS, ComparesProcesses
from pacenote.records import Cell, Environment, Finding, Severity, Status, Study, TrialRecord
from pacenote.stats import TrialSummary

KEPT_TRIALS: Final = 3
"""A cell can spare disturbed processes only while at least three, and at least half, stay undisturbed: the choice is
made by the state of the machine, never by the measured time."""

_RANK: Final = {Severity.INFO: 0, Severity.WARNING: 1, Severity.UNHEALTHY: 2}


@dataclass(frozen=True)
class Evidence:
    """One cell.

    Attributes:
        records: All its trials, in order of round.
        used: Summaries that numbers are computed from: finished trials, without disturbed ones that can be spared.
        health: Findings of the health checks, the worst of each code, subject filled in.
    """

    cell: Cell
    records: list[TrialRecord]
    used: list[TrialSummary]
    health: list[Finding]

    @property
    def label(self) -> str:
        """The cell's label."""
        return self.cell.label

    @property
    def measured(self) -> bool:
        """Whether any trial gave a step time."""
        return any(summary.step_time_s is not None for summary in self.used)

    @property
    def reasons(self) -> list[str]:
        """Codes of what forbids a ratio from this cell; empty when it is healthy."""
        if not self.measured:
            return ["trial_failed"]
        return [finding.code for finding in self.health if finding.severity is Severity.UNHEALTHY]


def gather(
    study: Study,
    records: Iterable[TrialRecord],
    summaries: Mapping[str, TrialSummary],
    environment: Environment | None,
) -> list[Evidence]:
    """Sort trials by cell and examine each."""
    by_spec: dict[str, list[TrialRecord]] = {}
    for record in sorted(records, key=lambda record: (record.round, record.id)):
        by_spec.setdefault(record.spec_hash, []).append(record)
    return [_evidence(cell, by_spec.get(cell.spec.hash(), []), summaries, environment) for cell in study.cells]


def _evidence(
    cell: Cell,
    records: list[TrialRecord],
    summaries: Mapping[str, TrialSummary],
    environment: Environment | None,
) -> Evidence:
    finished = [one for one in records if one.outcome.status is Status.FINISHED and one.id in summaries]
    found = {one.id: examine(one, summaries[one.id], environment) for one in finished}
    severe = _forbidden_by_difference([summaries[one.id] for one in finished])
    found = {trial: [_raised(finding, severe) for finding in findings] for trial, findings in found.items()}
    disturbed = {trial for trial, findings in found.items() if _only_passing(findings)}
    kept = [one for one in finished if one.id not in disturbed]
    if not disturbed or len(kept) < max(KEPT_TRIALS, len(finished) / 2):
        health = _worst(cell.label, found.values())
        return Evidence(cell, records, [summaries[one.id] for one in finished], health)
    reasons = sorted({finding.code for trial in disturbed for finding in found[trial] if _is_unhealthy(finding)})
    left_out = Finding(
        code="rounds_left_out",
        severity=Severity.WARNING,
        subject=cell.label,
        params={"count": len(disturbed), "of_trials": len(finished), "reasons": reasons},
    )
    health = [*_worst(cell.label, [found[one.id] for one in kept]), left_out]
    return Evidence(cell, records, [summaries[one.id] for one in kept], health)


def examine(record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
    """Run every health check over one trial."""
    return [finding for check in CHECKS for finding in check.check(record, summary, environment)]


def _forbidden_by_difference(summaries: Sequence[TrialSummary]) -> set[str]:
    """Codes of what one process may have, but not more in one than in another."""
    return {check.name for check in CHECKS if isinstance(check, ComparesProcesses) and check.differs(summaries)}


def _raised(finding: Finding, codes: set[str]) -> Finding:
    return msgspec.structs.replace(finding, severity=Severity.UNHEALTHY) if finding.code in codes else finding


def _is_unhealthy(finding: Finding) -> bool:
    return finding.severity is Severity.UNHEALTHY


def _only_passing(findings: Sequence[Finding]) -> bool:
    """Whether a trial is unhealthy by nothing but conditions that come and go."""
    codes = {finding.code for finding in findings if _is_unhealthy(finding)}
    return bool(codes) and all(check.passing for check in CHECKS if check.name in codes)


def _worst(label: str, found: Iterable[Sequence[Finding]]) -> list[Finding]:
    """The worst finding of each code, and in how many of the trials it was made; unhealthy and causes first."""
    trials = list(found)
    worst: dict[str, Finding] = {}
    count: dict[str, int] = {}
    for findings in trials:
        for finding in findings:
            count[finding.code] = count.get(finding.code, 0) + 1
            if finding.code not in worst or _RANK[finding.severity] > _RANK[worst[finding.code].severity]:
                worst[finding.code] = finding
    ordered = sorted(worst.values(), key=lambda finding: (-_RANK[finding.severity], _place(finding.code)))
    return [
        msgspec.structs.replace(
            finding,
            subject=label,
            params={**finding.params, "trials": count[finding.code], "of_trials": len(trials)},
        )
        for finding in ordered
    ]


def _place(code: str) -> int:
    """Place of a code among all; those of third parties come last."""
    return list(HEALTH).index(code) if code in HEALTH else len(HEALTH)
