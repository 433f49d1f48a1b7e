"""One condition and one process: findings, records and summaries put beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pacenote import depth
from pacenote.records import Cell, ColdStart, Finding, Memory, Reading, Sensors, Status, TrialRecord
from pacenote.report.model import CellView, DepthView, Estimate, Summary, TrialView
from pacenote.report.readings import energy_per_sample, largest, middle
from pacenote.segment import segment

OPERATORS_SHOWN: Final = 30
"""Operators in the view, of some hundreds: those left take less than a hundredth of the step each."""

_ABOUT_ONE_CELL: Final = frozenset({"cell_time", "phases", "dominant_phase", "flops", "cold_start"})


def cell_view(cell: Cell, records: Sequence[TrialRecord], findings: Sequence[Finding]) -> CellView:
    """Put everything known about one condition into one value."""
    own = [finding for finding in findings if finding.subject == cell.label]
    facts = {finding.code: finding.params for finding in own if finding.code in _ABOUT_ONE_CELL}
    finished = [record for record in records if record.outcome.status is Status.FINISHED]
    times, flops = facts.get("cell_time", {}), facts.get("flops", {})
    last = finished[-1] if finished else None
    return CellView(
        label=cell.label,
        framework=cell.spec.framework,
        device=cell.spec.device,
        data_mode=cell.spec.data_mode,
        levers=dict(cell.spec.levers),
        rounds=int(times.get("rounds") or len(finished)),
        steps=int(times.get("steps") or 0),
        step_time=_step_time(times),
        throughput=_throughput(times),
        phases={name: share for name, share in facts.get("phases", {}).items() if share is not None},
        dominant_phase=facts.get("dominant_phase", {}).get("phase"),
        achieved_flops=_reading(flops, "achieved_flops"),
        ceiling_flops=_reading(flops, "ceiling_flops"),
        mfu_share=_reading(flops, "mfu_share"),
        memory=_memory(finished),
        sensors=_sensors(finished),
        cold_start=_cold_start(facts.get("cold_start"), finished),
        lever_outcomes=list(last.levers) if last else [],
        copied_bytes_per_step=_copied(finished),
        framework_facts=dict(last.framework) if last else {},
        data=dict(last.data) if last else {},
        depth=_depth(finished),
        findings=own,
    )


def _depth(records: Sequence[TrialRecord]) -> DepthView | None:
    """The latest recording in depth."""
    found = next((record.depth for record in reversed(records) if record.depth is not None), None)
    if found is None or not found.steps:
        return None if found is None else DepthView(failure=found.failure)
    calls = depth.calls_of(found)
    rows = depth.operators(found, calls)
    return DepthView(
        steps=found.steps,
        host_s=sum(row.host_s for row in rows),
        device_s=sum(row.device_s for row in rows),
        operators=rows[:OPERATORS_SHOWN],
        other_operators=max(0, len(rows) - OPERATORS_SHOWN),
        copies=depth.copies(found, calls),
        devices=depth.devices(found, calls),
        memory=found.memory,
    )


def trial_view(label: str, record: TrialRecord, summary: Summary | None) -> TrialView:
    """Put one process with its raw steps into one value."""
    segments = segment(record.events) if record.events.t_ns else None
    return TrialView(
        id=record.id,
        cell=label,
        round=record.round,
        status=record.outcome.status,
        steps=summary.steps if summary else 0,
        dropped_steps=summary.dropped_steps if summary else 0,
        step_time_s=summary.step_time_s if summary else None,
        spread_share=summary.spread_share if summary else None,
        error_type=record.outcome.error_type,
        error_text=record.outcome.error_text,
        where=record.outcome.where,
        step_ns=[round(value * 1e9) for value in segments.total_s.tolist()] if segments else [],
        turn=[int(value) for value in segments.turn.tolist()] if segments else [],
        losses=[pair for turn in record.turns for pair in turn.losses],
    )


def _step_time(times: dict[str, Any]) -> Estimate | None:
    value, reason = times.get("step_time_s"), str(times.get("reason") or "")
    return None if value is None else Estimate(value=value, low=times.get("low"), high=times.get("high"), reason=reason)


def _throughput(times: dict[str, Any]) -> Estimate | None:
    """Samples per second; its interval is the step time's, turned over (samples per step is a constant)."""
    value, step_s = times.get("samples_per_s"), times.get("step_time_s")
    low_s, high_s = times.get("low"), times.get("high")
    if value is None:
        return None
    if not step_s or not low_s or not high_s:
        return Estimate(value=value, reason=str(times.get("reason") or ""))
    return Estimate(value=value, low=value * step_s / high_s, high=value * step_s / low_s)


def _reading(params: dict[str, Any], name: str) -> Reading:
    value = params.get(name)
    if value is not None:
        return Reading(value=value, method="formula")
    return Reading(reason=str(params.get("reason") or "not_recorded"))


def _memory(records: Sequence[TrialRecord]) -> dict[str, Reading]:
    """Largest reading over the processes of a cell: a peak is a peak whichever process had it."""
    names = Memory.__struct_fields__
    return {name: largest([getattr(record.memory, name) for record in records]) for name in names}


def _sensors(records: Sequence[TrialRecord]) -> dict[str, Reading]:
    names = Sensors.__struct_fields__
    readings = {name: middle([getattr(record.sensors, name) for record in records]) for name in names}
    for name in ("cpu_energy_j", "dram_energy_j", "device_energy_j"):
        readings[f"{name}_per_sample"] = energy_per_sample(records, name)
    return readings


def _cold_start(params: dict[str, Any] | None, records: Sequence[TrialRecord]) -> dict[str, float | None]:
    if params is not None:
        return {name: value for name, value in params.items() if name.endswith("_s")}
    if not records:
        return {}
    names = ColdStart.__struct_fields__
    return {name: getattr(records[0].cold_start, name) for name in names}


def _copied(records: Sequence[TrialRecord]) -> float | None:
    turns = [turn for record in records for turn in record.turns if turn.turn > 0]
    steps = sum(turn.steps for turn in turns)
    return sum(turn.copied_bytes for turn in turns) / steps if steps else None
