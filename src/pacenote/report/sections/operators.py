"""What the operators of a step cost, where some steps were recorded in depth."""

from __future__ import annotations

from pacenote.report.blocks import Block, Column, Datum, Line, Lines, Message, Section, Table, literal, say
from pacenote.report.model import CellView, DepthView, StudyView
from pacenote.report.sections import SectionPart


def build(view: StudyView) -> Section | None:
    """One set of tables per condition that has a recording."""
    blocks = [block for cell in view.cells if cell.depth is not None for block in _blocks(view, cell, cell.depth)]
    if not blocks:
        return None
    return Section(name="operators", title=say("section.operators"), lead=say("lead.operators"), blocks=blocks)


def _blocks(view: StudyView, cell: CellView, depth: DepthView) -> list[Block]:
    place = str(view.cells.index(cell))
    subject = literal(cell.label) if len(view.cells) > 1 else None
    if not depth.steps:
        text = say("depth.failed", error=depth.failure)
        return [Lines(name=f"operators_failed_{place}", lines=[Line(text=text, tone="warn", subject=subject)])]
    blocks: list[Block] = [Lines(name=f"operators_{place}", lines=_lines(depth, subject))]
    blocks.append(_operators(depth, place))
    if depth.devices:
        blocks.append(_devices(depth, place))
    if depth.copies:
        blocks.append(_copies(depth, place))
    return blocks


def _lines(depth: DepthView, subject: Message | None) -> list[Line]:
    whole_s = depth.device_s or depth.host_s
    shown_s = sum(row.device_s if depth.device_s else row.host_s for row in depth.operators)
    shown = say(
        "depth.steps",
        steps=depth.steps,
        shown_share=shown_s / whole_s if whole_s else 1.0,
        other_count=depth.other_operators,
    )
    lines = [Line(text=shown, subject=subject)]
    for device, held in depth.memory.items():
        text = say(
            "depth.memory",
            device=device,
            allocation_count=round(held.get("allocations", 0) / depth.steps),
            allocated_bytes=held.get("allocated_bytes", 0) / depth.steps,
            rise_bytes=held.get("rise_bytes", 0),
        )
        lines.append(Line(text=text, subject=subject))
    return lines


def _operators(depth: DepthView, place: str) -> Table:
    columns = [
        Column(title=say("column.operator")),
        Column(title=say("column.shapes"), narrow=False),
        Column(title=say("column.calls"), unit="plain"),
    ]
    on_device = depth.device_s > 0
    if on_device:
        columns += [
            Column(title=say("column.device_share"), unit="share"),
            Column(title=say("column.device_time"), unit="s"),
        ]
    columns += [Column(title=say("column.host_share"), unit="share"), Column(title=say("column.host_time"), unit="s")]
    rows = []
    for row in depth.operators:
        shown = [Datum(text=literal(row.name)), Datum(text=literal(row.shapes)), Datum(value=row.calls)]
        if on_device:
            shown += [Datum(value=row.device_s / depth.device_s), Datum(value=row.device_s)]
        shown += [Datum(value=row.host_s / depth.host_s if depth.host_s else 0.0), Datum(value=row.host_s)]
        rows.append(shown)
    return Table(name=f"operators_{place}", columns=columns, rows=rows)


def _devices(depth: DepthView, place: str) -> Table:
    columns = [
        Column(title=say("column.stream")),
        Column(title=say("column.busy"), unit="share"),
        Column(title=say("column.kernels"), unit="plain"),
        Column(title=say("column.median_kernel"), unit="s"),
    ]
    rows = [
        [
            Datum(text=literal(row.name)),
            Datum(value=row.busy_share),
            Datum(value=row.kernels),
            Datum(value=row.median_kernel_s),
        ]
        for row in depth.devices
    ]
    return Table(name=f"streams_{place}", columns=columns, rows=rows)


def _copies(depth: DepthView, place: str) -> Table:
    columns = [
        Column(title=say("depth.host_copy")),
        Column(title=say("column.calls"), unit="plain"),
        Column(title=say("column.copied_step"), unit="bytes"),
        Column(title=say("column.device_time"), unit="s"),
    ]
    rows = [
        [
            Datum(text=say("depth.copy", source=row.source, target=row.target)),
            Datum(value=row.calls),
            Datum(value=row.copied_bytes),
            Datum(value=row.device_s),
        ]
        for row in depth.copies
    ]
    return Table(name=f"copies_{place}", columns=columns, rows=rows)


PART = SectionPart(name="operators", place=35, build=build)
