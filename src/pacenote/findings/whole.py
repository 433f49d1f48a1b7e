"""What is found out about the study as a whole: what was missing, made up, or cut short."""

from __future__ import annotations

from collections.abc import Sequence

from pacenote.findings.evidence import Evidence
from pacenote.records import Environment, Finding, Severity, Status, Study
from pacenote.stats import cell_interval


def judge_whole(
    study: Study, cells: Sequence[Evidence], comparisons: Sequence[Finding], environment: Environment | None
) -> list[Finding]:
    """Findings without a cell."""
    return [
        *_missing(cells),
        *_one_device(cells, environment),
        *_stand_in(cells),
        *_budget(study, cells, comparisons),
    ]


def _missing(cells: Sequence[Evidence]) -> list[Finding]:
    """Each framework or device that is not here, told once."""
    found: dict[tuple[str, str], Finding] = {}
    for evidence in cells:
        for record in evidence.records:
            if record.outcome.status is not Status.MISSING:
                continue
            error = record.outcome.error_type or ""
            device = evidence.cell.spec.device
            part = device if device != "cpu" and "ImportError" not in error and "Module" not in error else None
            name = part or evidence.cell.spec.framework
            reason = "no_device" if part else "not_installed"
            found[name, reason] = Finding(
                code="missing_part", severity=Severity.WARNING, params={"part": name, "reason": reason}
            )
    return list(found.values())


def _one_device(cells: Sequence[Evidence], environment: Environment | None) -> list[Finding]:
    """Only when there is no second device to choose, not when one was chosen."""
    devices = {evidence.cell.spec.device for evidence in cells}
    others = environment.facts.get("accelerators") if environment else None
    if devices != {"cpu"} or others:
        return []
    return [Finding(code="one_device", params={"device": "cpu"})]


def _stand_in(cells: Sequence[Evidence]) -> list[Finding]:
    for evidence in cells:
        for record in evidence.records:
            if record.data.get("source") == "stand-in":
                return [Finding(code="stand_in_data", params={"items": record.data.get("items")})]
    return []


def _budget(study: Study, cells: Sequence[Evidence], comparisons: Sequence[Finding]) -> list[Finding]:
    """An interval that was asked for and not reached; widths are half-widths as shares."""
    target = study.options.get("within")
    if target is None:
        return []
    reached = widest(cells, comparisons)
    if reached is not None and reached <= target:
        return []
    rounds = max((len(evidence.used) for evidence in cells), default=0)
    return [
        Finding(
            code="budget_reached",
            severity=Severity.WARNING,
            params={"target_width": target, "reached_width": reached, "rounds": rounds},
        )
    ]


def widest(cells: Sequence[Evidence], comparisons: Sequence[Finding]) -> float | None:
    """Half-width of the widest interval: of the ratios where cells were compared, else of the cells' times.

    ``None`` when one of them has no interval at all.
    """
    ratios = [finding.params for finding in comparisons if finding.code in ("ratio", "ratio_forced")]
    if ratios:
        widths = [None if one["low"] is None else (one["high"] - one["low"]) / 2.0 / one["speedup"] for one in ratios]
    else:
        widths = [cell_interval(evidence.used).half_width_share for evidence in cells if evidence.measured]
    known = [width for width in widths if width is not None]
    return max(known) if known and len(known) == len(widths) else None
