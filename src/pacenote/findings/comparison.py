"""Ratios between cells, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pacenote.findings.evidence import Evidence
from pacenote.records import Cell, Finding, Scalar, Severity, Status, Study
from pacenote.stats import RatioInterval, ratio_interval


def compare(study: Study, cells: Sequence[Evidence], level: float) -> list[Finding]:
    """Compare along each axis: every value with the first value of that axis, all other axes equal."""
    by_label = {evidence.label: evidence for evidence in cells}
    return [
        compare_pair(study, by_label[base], by_label[other], level, axis=axis)
        for axis, base, other in pairs(study.cells, study.axes)
    ]


def pairs(cells: Sequence[Cell], axes: Sequence[str]) -> list[tuple[str, str, str]]:
    """The comparisons a study makes: axis, label of the first value's cell, label of the other.

    A study without axes compares every cell with its first.
    """
    if not axes:
        return [("", cells[0].label, other.label) for other in cells[1:]]
    found = []
    for axis in axes:
        groups: dict[tuple[Scalar, ...], list[Cell]] = {}
        for cell in cells:
            fixed = tuple(value_of(cell, other) for other in axes if other != axis)
            groups.setdefault(fixed, []).append(cell)
        found += [(axis, group[0].label, other.label) for group in groups.values() for other in group[1:]]
    return found


def value_of(cell: Cell, axis: str) -> Scalar:
    """Where a cell stands on an axis: a field of its spec, else a lever."""
    if axis in cell.spec.__struct_fields__ and axis != "levers":
        value: Scalar = getattr(cell.spec, axis)
        return value
    return cell.spec.levers.get(axis)


def compare_pair(study: Study, base: Evidence, other: Evidence, level: float, *, axis: str = "") -> Finding:
    """One ratio, or its refusal, or (asked by ``--force``) the marked number."""
    sides = {"baseline": base, "cell": other}
    reasons = {side: [*evidence.reasons, *_not_what_it_says(evidence, axis)] for side, evidence in sides.items()}
    sick = [side for side, codes in reasons.items() if codes]
    names = {"baseline": base.label, "cell": other.label, "axis": axis}
    if not sick:
        return _ratio(study, base, other, level, names)
    codes = list(dict.fromkeys(code for side in sick for code in reasons[side]))
    if study.options.get("force") and base.measured and other.measured:
        found = _ratio(study, base, other, level, names)
        return Finding(
            code="ratio_forced",
            severity=Severity.WARNING,
            subject=found.subject,
            params={**found.params, "reasons": codes},
        )
    return Finding(
        code="ratio_refused",
        severity=Severity.WARNING,
        subject=_subject(names),
        params={**names, "side": "both" if len(sick) == 2 else sick[0], "reasons": codes},
    )


def measure(study: Study, base: Evidence, other: Evidence, level: float) -> RatioInterval:
    """Interval of the speed-up; paired unless the study puts separate runs side by side."""
    paired = bool(study.options.get("paired", study.question != "compare"))
    return ratio_interval(base.used, other.used, level, paired=paired)


def _ratio(study: Study, base: Evidence, other: Evidence, level: float, names: dict[str, str]) -> Finding:
    interval = measure(study, base, other, level)
    params: dict[str, Any] = {
        **names,
        "speedup": interval.value,
        "low": interval.low,
        "high": interval.high,
        "level": level,
        "rounds": interval.count,
        "paired": interval.paired,
        "estimator": interval.estimator,
        "distinct": interval.distinct,
        "reason": interval.reason,
    }
    return Finding(code="ratio", subject=_subject(names), params=params)


def _subject(names: dict[str, str]) -> str:
    return f"{names['cell']}/{names['baseline']}"


def _not_what_it_says(evidence: Evidence, axis: str) -> list[str]:
    """A cell whose lever on the compared axis had no effect is not what its label says."""
    finished = [record for record in evidence.records if record.outcome.status is Status.FINISHED]
    failed = any(lever.applied is False and lever.name == axis for record in finished for lever in record.levers)
    return ["lever_not_applied"] if failed else []
