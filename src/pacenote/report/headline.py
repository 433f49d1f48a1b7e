"""What stands first in a report: two sentences and a handful of figures."""

from __future__ import annotations

from pacenote.records import Finding, Record, Severity
from pacenote.report.blocks import Datum, Message, estimate, literal, say
from pacenote.report.model import CellView, StudyView

_SECOND = ("verdict_why", "verdict_do")


class KeyFigure(Record, frozen=True, kw_only=True):
    """One figure in large type with its name and a note beneath."""

    title: Message
    datum: Datum
    unit: str = "text"
    note: Message | None = None


def sentences(view: StudyView) -> list[Message]:
    """The verdict and the reason or remedy: at most two sentences."""
    if view.question == "selftest":
        return _selftest_sentences(view)
    verdict = next((item for item in view.findings if _is_verdict(item)), None)
    if verdict is not None:
        first = Message(key=f"finding.{verdict.code}", params=verdict.params)
    else:
        first = say("verdict.unjudged" if any(cell.measured for cell in view.cells) else "verdict.none")
    second = next((item for item in view.findings if item.code in _SECOND), None)
    if second is None:
        return [first]
    return [first, Message(key=f"finding.{second.code}", params=second.params)]


def _selftest_sentences(view: StudyView) -> list[Message]:
    smallest = next(iter(view.found("smallest_difference")), None)
    if smallest is None:
        return [say("verdict.selftest_none")]
    first = Message(key="finding.smallest_difference", params=smallest.params)
    planted = view.found("planted_seen")
    if not planted:
        return [first]
    seen = sum(bool(item.params.get("covered")) for item in planted)
    return [first, say("verdict.planted", seen=seen, of_count=len(planted))]


def key_figures(view: StudyView) -> list[KeyFigure]:
    """The figures of the fastest healthy condition; none when every condition was disturbed."""
    best = fastest(view)
    if best is None or best.throughput is None:
        return []
    leads = bool(view.found("verdict_fastest"))  # without that verdict it is ahead by chance or alone
    rate = best.throughput
    figures = [
        KeyFigure(
            title=say("kpi.fastest" if leads else "column.samples_per_s"),
            datum=estimate(rate.value, rate.low, rate.high, processes=best.rounds),
            unit="samples_per_s",
            note=literal(best.label),
        )
    ]
    ratio = _best_ratio(view)
    if ratio is not None:
        params = ratio.params
        figures.append(
            KeyFigure(
                title=say("kpi.speedup"),
                datum=estimate(
                    params["speedup"], params.get("low"), params.get("high"), processes=params.get("rounds")
                ),
                unit="ratio",
                note=say("pair", cell=params.get("cell"), baseline=params.get("baseline")),
            )
        )
    figures.extend(_of_cell(best))
    return figures


def fastest(view: StudyView) -> CellView | None:
    """The healthy condition with the highest throughput."""
    healthy = [cell for cell in view.cells if cell.throughput is not None and not cell.unhealthy]
    return max(healthy, key=lambda cell: cell.throughput.value if cell.throughput else 0.0, default=None)


def machine(view: StudyView) -> Message:
    """The machine in a few words: processor, cores, accelerators; its hashed id when nothing else is known."""
    facts = view.environment
    if not facts.get("cpu_model"):
        return literal(view.machine_id)
    named = [str(item.get("name", "")) for item in facts.get("accelerators") or [] if isinstance(item, dict)]
    words = say("page.machine", cpu_model=facts["cpu_model"], cores=facts.get("physical_cores"))
    return say("page.machine_with", machine=words, accelerators=named) if named else words


def _of_cell(cell: CellView) -> list[KeyFigure]:
    figures = []
    if cell.phases:
        phase, share = max(cell.phases.items(), key=lambda item: item[1])
        figures.append(
            KeyFigure(title=say("kpi.phase"), datum=Datum(value=share), unit="share", note=say(f"phase.{phase}"))
        )
    memory = cell.memory.get("pss_bytes")
    if memory is not None and memory.value is not None:
        figures.append(
            KeyFigure(title=say("kpi.memory"), datum=Datum(value=memory.value), unit="bytes", note=literal(cell.label))
        )
    if cell.mfu_share.value is not None:
        figures.append(
            KeyFigure(
                title=say("kpi.mfu"),
                datum=Datum(value=cell.mfu_share.value),
                unit="share",
                note=say("kpi.mfu_note", achieved_flops=cell.achieved_flops.value),
            )
        )
    return figures


def _best_ratio(view: StudyView) -> Finding | None:
    """The largest ratio that may be printed and is above 1 with its whole interval: a slow-down is no speed-up."""
    seen = [item for item in view.found("ratio") if item.params.get("distinct", True)]
    ratios = [item for item in seen if (item.params.get("speedup") or 0.0) > 1]
    return max(ratios, key=lambda item: float(item.params["speedup"]), default=None)


def _is_verdict(finding: Finding) -> bool:
    return finding.code.startswith("verdict_") and finding.code not in _SECOND


def is_notice(finding: Finding) -> bool:
    """Whether a finding limits what the study says without being about health or a ratio."""
    if finding.code.startswith(("verdict_", "ratio")):
        return False
    return finding.code in _NOTICES or (finding.severity is Severity.WARNING and not finding.subject)


_NOTICES = frozenset(
    {
        "stand_in_data",
        "one_device",
        "missing_part",
        "budget_reached",
        "budget_ended",
        "not_interleaved",
        "runs_differ",
        "trial_failed",
        "lever_not_applied",
        "unattributed_high",
        "rounds_left_out",
    }
)
