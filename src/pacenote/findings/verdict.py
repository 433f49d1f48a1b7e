"""The verdict: one finding that answers the question, one that says why, and one that says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pacenote.findings.cells import phase_shares, samples_per_s
from pacenote.findings.comparison import measure
from pacenote.findings.evidence import Evidence
from pacenote.records import Finding, Severity, Study
from pacenote.stats import RatioInterval, cell_interval


def conclude(study: Study, cells: Sequence[Evidence], comparisons: Sequence[Finding], level: float) -> list[Finding]:
    """Answer the study's question.

    Args:
        study: The study.
        cells: Its cells.
        comparisons: What the cells' comparison found.
        level: Coverage of the intervals.
    """
    measured = [evidence for evidence in cells if evidence.measured]
    if not measured:
        return _remedy(cells)
    healthy = [evidence for evidence in measured if not evidence.reasons] or measured
    best = max(healthy, key=_rate)
    answer = _answer(study, cells, best, comparisons, level)
    remedy, why = _remedy(cells), _why(best)
    found = [answer, *(remedy + why if answer.code == "verdict_refused" else why + remedy)]
    if answer.code == "verdict_fastest":
        found.append(_finding("fastest", best, samples_per_s=samples_per_s(best), cell=best.label))
    return found


def _answer(
    study: Study, cells: Sequence[Evidence], best: Evidence, comparisons: Sequence[Finding], level: float
) -> Finding:
    if len(cells) == 1:
        step_s = cell_interval(best.used).value
        return _finding("verdict_single", best, cell=best.label, samples_per_s=samples_per_s(best), step_time_s=step_s)
    healthy = [evidence for evidence in cells if not evidence.reasons]
    if len(healthy) < 2 or (comparisons and all(finding.code == "ratio_refused" for finding in comparisons)):
        codes = list(dict.fromkeys(code for evidence in cells for code in evidence.reasons))
        codes += [code for finding in comparisons for code in finding.params.get("reasons", []) if code not in codes]
        return Finding(code="verdict_refused", severity=Severity.WARNING, params={"reasons": codes})
    base = _opponent(study, healthy, best)
    # The fastest was picked out of several, so its lead must stand at the level shared by all it could have been.
    shared = 1.0 - (1.0 - level) / (len(healthy) - 1)
    lead = measure(study, base, best, shared)
    if not lead.distinct and lead.low is not None and not _any_distinct(comparisons):
        return Finding(code="verdict_no_difference", params={"count": len(healthy)})
    return _finding("verdict_fastest", best, **_lead(best, base, lead, shared))


def _lead(best: Evidence, base: Evidence, lead: RatioInterval, level: float) -> dict[str, Any]:
    return {
        "cell": best.label,
        "samples_per_s": samples_per_s(best),
        "baseline": base.label,
        "speedup": lead.value,
        "low": lead.low,
        "high": lead.high,
        "level": level,
    }


def _opponent(study: Study, healthy: Sequence[Evidence], best: Evidence) -> Evidence:
    """The baseline, or the runner-up when the baseline is itself the fastest or cannot be used."""
    others = [evidence for evidence in healthy if evidence is not best]
    named = [evidence for evidence in others if evidence.label == study.baseline]
    return named[0] if named else max(others, key=_rate)


def _any_distinct(comparisons: Sequence[Finding]) -> bool:
    return any(finding.code == "ratio" and finding.params["distinct"] for finding in comparisons)


def _rate(evidence: Evidence) -> float:
    """Throughput, or steps per second where samples are unknown."""
    step_s = cell_interval(evidence.used).value
    return samples_per_s(evidence) or (1.0 / step_s if step_s else 0.0)


def _why(best: Evidence) -> list[Finding]:
    shares = phase_shares(best)
    if not shares:
        return []
    phase = max(shares, key=lambda name: shares[name])
    return [_finding("verdict_why", best, cell=best.label, phase=phase, share=shares[phase])]


def _remedy(cells: Sequence[Evidence]) -> list[Finding]:
    """The first unhealthy finding, by its code and parameters, so that its fix can be told."""
    for evidence in cells:
        for finding in evidence.health:
            if finding.severity is Severity.UNHEALTHY:
                params = {"cell": evidence.label, "finding": finding.code, **finding.params}
                return [Finding(code="verdict_do", subject=evidence.label, params=params)]
    return []


def _finding(code: str, evidence: Evidence, **params: Any) -> Finding:
    return Finding(code=code, subject=evidence.label, params=params)
