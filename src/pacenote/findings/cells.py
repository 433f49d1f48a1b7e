"""What is found out about each cell by itself."""

from __future__ import annotations

from collections import Counter
from statistics import fmean, median
from typing import Any, Final

from pacenote.findings.evidence import Evidence
from pacenote.records import ColdStart, Finding, Severity, Status, TrialRecord
from pacenote.segment import PHASES
from pacenote.stats import cell_interval

UNATTRIBUTED_SHARE: Final = 0.05
"""Time in no phase that is still ordinary: the loop itself, its logging, and the probe."""

_NOT_FAILURES: Final = (Status.FINISHED, Status.MISSING)


def judge_cell(evidence: Evidence, level: float) -> list[Finding]:
    """All findings about one cell."""
    found = [*evidence.health, *_failures(evidence), *_levers(evidence)]
    if evidence.measured:
        found += [*_time(evidence, level), *_phases(evidence), *_flops(evidence), *_cold_start(evidence)]
    return found


def phase_shares(evidence: Evidence) -> dict[str, float]:
    """Share of each phase in the mean step, averaged over the trials used; empty without steps."""
    used = [one for one in evidence.used if one.step_time_mean_s]
    if not used:
        return {}
    return {name: fmean(one.phase_s[name] / (one.step_time_mean_s or 1.0) for one in used) for name in PHASES}


def samples_per_s(evidence: Evidence) -> float | None:
    """Throughput at the cell's step time; ``None`` when the samples of a step are not known."""
    step_s = cell_interval(evidence.used).value
    samples = next((one.samples_per_step for one in evidence.used if one.samples_per_step), None)
    return samples / step_s if step_s and samples else None


def _finding(evidence: Evidence, code: str, **params: Any) -> Finding:
    return Finding(code=code, subject=evidence.label, params=params)


def _warning(evidence: Evidence, code: str, **params: Any) -> Finding:
    return Finding(code=code, severity=Severity.WARNING, subject=evidence.label, params=params)


def _time(evidence: Evidence, level: float) -> list[Finding]:
    interval = cell_interval(evidence.used, level)
    timed = [one for one in evidence.used if one.step_time_s]
    return [
        _finding(
            evidence,
            "cell_time",
            step_time_s=interval.value,
            low=interval.low,
            high=interval.high,
            level=level,
            samples_per_s=samples_per_s(evidence),
            rounds=interval.count,
            steps=sum(one.steps for one in timed),
            estimator=timed[0].estimator,
            reason=interval.reason,
        )
    ]


def _phases(evidence: Evidence) -> list[Finding]:
    shares = phase_shares(evidence)
    if not shares:
        return []
    phase = max(shares, key=lambda name: shares[name])
    found = [
        _finding(evidence, "phases", **shares),
        _finding(evidence, "dominant_phase", phase=phase, share=shares[phase]),
    ]
    # On an accelerator "other" holds the host's wait for the device, which is no missing attribution.
    # A planted slow-down spins between steps.
    spec = evidence.cell.spec
    if spec.device == "cpu" and spec.planted_slowdown_ratio == 1.0 and shares["other"] > UNATTRIBUTED_SHARE:
        found.append(_warning(evidence, "unattributed_high", share=shares["other"]))
    return found


def _flops(evidence: Evidence) -> list[Finding]:
    """Achieved FLOP/s from the workload's formula, and its share of the ceiling measured on this device."""
    last = _finished(evidence)[-1]
    rate, flop, ceiling = samples_per_s(evidence), last.flop_per_sample, last.ceiling_flops
    achieved = flop.value * rate if flop.value is not None and rate is not None else None
    share = achieved / ceiling.value if achieved is not None and ceiling.value else None
    reason = "" if share is not None else flop.reason or ceiling.reason or "not_recorded"
    return [
        _finding(
            evidence,
            "flops",
            achieved_flops=achieved,
            ceiling_flops=ceiling.value,
            mfu_share=share,
            reason=reason,
        )
    ]


def _cold_start(evidence: Evidence) -> list[Finding]:
    """Median of each part of the start over the processes."""
    finished = _finished(evidence)
    parts: dict[str, float | None] = {}
    for name in ColdStart.__struct_fields__:
        known = [getattr(record.cold_start, name) for record in finished]
        parts[name] = median(values) if (values := [value for value in known if value is not None]) else None
    return [_finding(evidence, "cold_start", **parts, steady_step_s=cell_interval(evidence.used).value)]


def _finished(evidence: Evidence) -> list[TrialRecord]:
    return [record for record in evidence.records if record.outcome.status is Status.FINISHED]


def _failures(evidence: Evidence) -> list[Finding]:
    """One finding for each way in which trials ended early; what is missing is told once for the study."""
    count = Counter(record.outcome.status for record in evidence.records)
    found = []
    for status in (status for status in Status if status not in _NOT_FAILURES and count[status]):
        last = [record.outcome for record in evidence.records if record.outcome.status is status][-1]
        found.append(
            _warning(
                evidence,
                "trial_failed",
                status=status.value,
                count=count[status],
                error_type=last.error_type or last.signal,
                error_text=last.error_text,
                where=last.where,
            )
        )
    return found


def _levers(evidence: Evidence) -> list[Finding]:
    """Levers that were seen not to have taken effect, each told once."""
    found: dict[str, Finding] = {}
    for record in _finished(evidence):
        for lever in record.levers:
            if lever.applied is False:
                found[lever.name] = _warning(
                    evidence,
                    "lever_not_applied",
                    lever=lever.name,
                    asked=lever.asked,
                    observed=lever.observed,
                    reason=lever.reason,
                )
    return list(found.values())
