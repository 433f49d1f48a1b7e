"""What is found out about the study as a whole: what was missing, made up, or cut short."""

from __future__ import annotations

from collections.abc import Sequence

from pacenote.findings.evidence import Evidence
from pacenote.records import Environment, Finding, Severity, Status, Study, TrialRecord
from pacenote.stats import cell_interval


def judge_whole(
    study: Study, cells: Sequence[Evidence], comparisons: Sequence[Finding], environment: Environment | None
) -> list[Finding]:
    """Findings without a cell."""
    return [
        *_missing(study, cells),
        *_one_device(cells, environment),
        *_stand_in(cells),
        *_budget(study, cells, comparisons),
    ]


def _missing(study: Study, cells: Sequence[Evidence]) -> list[Finding]:
    """Each framework or device that is not here, told once: what could not be offered, then what failed to start.

    A kind of device that the framework was built without is no news: nobody chose it, and asking for it is refused.
    """
    reasons: dict[str, str] = {}
    for absent in study.options.get("absent") or []:
        if absent["reason"] != "build_without_device":
            reasons.setdefault(str(absent["device"]), str(absent["reason"]))
    for evidence in cells:
        for record in evidence.records:
            if record.outcome.status is Status.MISSING:
                part, reason = _absent_part(record)
                reasons.setdefault(part, reason)
    return [
        Finding(code="missing_part", severity=Severity.WARNING, params={"part": part, "reason": reason})
        for part, reason in reasons.items()
    ]


def _absent_part(record: TrialRecord) -> tuple[str, str]:
    """A failed import means the framework; anything else that is missing is the device."""
    error = record.outcome.error_type or ""
    if record.spec.device == "cpu" or "Import" in error or "ModuleNotFound" in error:
        return record.spec.framework, "not_installed"
    return record.spec.device, "no_device"


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
    """The time ended before the width, or the rounds, that were asked for; widths are half-widths as shares."""
    target, reached = study.options.get("within"), widest(cells, comparisons)
    rounds = max((len(evidence.used) for evidence in cells), default=0)
    ended = study.options.get("stopped", "budget") == "budget"  # not by Ctrl-C, nor because every cell failed
    if target is not None and ended and (reached is None or reached > target):
        params = {"target_width": target, "reached_width": reached, "rounds": rounds}
        return [Finding(code="budget_reached", severity=Severity.WARNING, params=params)]
    wanted = study.options.get("rounds")
    if target is None and study.options.get("stopped") == "budget" and wanted and rounds < wanted:
        params = {"rounds": rounds, "wanted_rounds": wanted, "reached_width": reached}
        return [Finding(code="budget_ended", severity=Severity.WARNING, params=params)]
    return []


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
