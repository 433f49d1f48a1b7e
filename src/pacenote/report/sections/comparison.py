"""Speed of every condition, and the ratios between them."""

from __future__ import annotations

from pacenote.records import Finding, Params
from pacenote.report.blocks import (
    Chart,
    Column,
    Datum,
    Line,
    Lines,
    Message,
    Section,
    Series,
    Table,
    interval,
    literal,
    reading,
    say,
)
from pacenote.report.model import CellView, Estimate, StudyView
from pacenote.report.sections import SectionPart

_RATIOS = ("ratio", "ratio_forced", "ratio_refused")


def build(view: StudyView) -> Section | None:
    """Results, then ratios; a ratio that was refused stands there with its reason."""
    if not view.cells:
        return None
    section = Section(name="comparison", title=say("section.comparison"), lead=say("lead.comparison"), terminal=True)
    ratios = view.found(*_RATIOS)
    section.blocks.append(_throughput_chart(view))
    section.blocks.append(_results(view))
    if ratios:
        if any(item.code != "ratio_refused" for item in ratios):
            section.blocks.append(_ratio_chart(ratios))
        section.blocks.append(_ratio_table(ratios))
    forced = [_sentence(item) for item in ratios if item.code == "ratio_forced"]
    if forced:
        section.blocks.append(Lines(name="forced", lines=forced))
    return section


def _throughput_chart(view: StudyView) -> Chart:
    cells = [cell for cell in view.cells if cell.throughput is not None]
    found = [cell.throughput or Estimate(value=0.0) for cell in cells]
    series = Series(
        title=say("chart.throughput"),
        values=[item.value for item in found],
        low=[item.low for item in found],
        high=[item.high for item in found],
        muted=[cell.unhealthy for cell in cells],
    )
    return Chart(
        name="throughput",
        kind="bars",
        title=say("chart.throughput"),
        unit="samples_per_s",
        categories=[literal(cell.label) for cell in cells],
        series=[series],
    )


def _results(view: StudyView) -> Table:
    columns = [
        Column(title=say("column.cell")),
        Column(title=say("column.samples_per_s"), unit="samples_per_s"),
        Column(title=say("column.interval"), unit="samples_per_s", narrow=False),
        Column(title=say("column.step_time"), unit="s"),
        Column(title=say("column.interval"), unit="s"),
        Column(title=say("column.achieved"), unit="flops", narrow=False),
        Column(title=say("column.mfu"), unit="share", narrow=False),
        Column(title=say("column.rounds"), unit="count"),
        Column(title=say("column.steps"), unit="count", narrow=False),
    ]
    return Table(name="results", columns=columns, rows=[_result_row(cell) for cell in view.cells])


def _result_row(cell: CellView) -> list[Datum]:
    label = Datum(text=literal(cell.label), tone="bad" if cell.unhealthy else "")
    if cell.step_time is None:
        none = Datum(reason=say("word.none"))
        return [label, _ended(cell) or none, *(none for _ in range(5)), Datum(value=cell.rounds), Datum(value=0)]
    return [
        label,
        _value(cell.throughput),
        _interval(cell.throughput, cell.rounds),
        _value(cell.step_time),
        _interval(cell.step_time, cell.rounds),
        reading(cell.achieved_flops),
        reading(cell.mfu_share),
        Datum(value=cell.rounds),
        Datum(value=cell.steps),
    ]


def _ended(cell: CellView) -> Datum | None:
    """How a condition without figures ended, as a value of its column: it stays when nothing at all was measured."""
    failure = next((item for item in cell.findings if item.code == "trial_failed"), None)
    if failure is None and cell.rounds:
        return None
    status = say(f"status.{failure.params.get('status')}") if failure else say("word.failed")
    return Datum(text=status, tone="muted")


def _value(estimate: Estimate | None) -> Datum:
    return Datum(reason=say("reason.not_recorded")) if estimate is None else Datum(value=estimate.value)


def _interval(estimate: Estimate | None, rounds: int) -> Datum:
    if estimate is None:
        return Datum(reason=say("word.none"))
    found = interval(estimate.low, estimate.high, processes=rounds)
    return found or Datum(reason=say(f"reason.{estimate.reason or 'one_round'}"))


def _ratio_chart(ratios: list[Finding]) -> Chart:
    shown = [item for item in ratios if item.params.get("speedup") is not None]
    series = Series(
        title=say("column.speedup"),
        values=[item.params["speedup"] for item in shown],
        low=[item.params.get("low") for item in shown],
        high=[item.params.get("high") for item in shown],
        muted=[item.code == "ratio_forced" or not item.params.get("distinct", True) for item in shown],
    )
    return Chart(
        name="speedup",
        kind="intervals",
        title=say("chart.speedup"),
        unit="ratio",
        categories=[_pair(item) for item in shown],
        series=[series],
        reference=1.0,
    )


def _pair(item: Finding) -> Message:
    return say("pair", cell=item.params.get("cell"), baseline=item.params.get("baseline"))


def _ratio_table(ratios: list[Finding]) -> Table:
    columns = [
        Column(title=say("column.cell")),
        Column(title=say("column.baseline")),
        Column(title=say("column.speedup"), unit="ratio"),
        Column(title=say("column.interval"), unit="ratio"),
        Column(title=say("column.verdict")),
    ]
    return Table(name="ratios", columns=columns, rows=[_ratio_row(item) for item in ratios])


def _ratio_row(item: Finding) -> list[Datum]:
    params = item.params
    names = [Datum(text=literal(str(params.get(side, "")))) for side in ("cell", "baseline")]
    speedup = params.get("speedup")
    if item.code == "ratio_refused" or speedup is None:
        refused, why = Datum(reason=say("word.none")), say("word.refused", reasons=params.get("reasons"))
        return [*names, refused, refused, Datum(text=why, tone="bad")]
    bounds = interval(params.get("low"), params.get("high"), processes=params.get("rounds"))
    return [*names, Datum(value=speedup), bounds or Datum(reason=say("word.none")), _reading(item)]


def _reading(item: Finding) -> Datum:
    if item.code == "ratio_forced":
        return Datum(text=say("word.forced"), tone="bad")
    if item.params.get("low") is None:
        return Datum(text=_why_no_interval(item.params), tone="muted")
    if not item.params.get("distinct", True):
        return Datum(text=say("word.same"), tone="muted")
    faster = item.params["speedup"] > 1
    return Datum(text=say("word.faster" if faster else "word.slower"), tone="good" if faster else "warn")


def _why_no_interval(params: Params) -> Message:
    return say(f"reason.{params.get('reason') or 'one_round'}")


def _sentence(item: Finding) -> Line:
    return Line(text=Message(key=f"finding.{item.code}", params=item.params), tone="bad")


PART = SectionPart(name="comparison", place=20, build=build)
