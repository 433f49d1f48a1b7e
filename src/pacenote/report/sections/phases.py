"""Where the time of a step goes."""

from __future__ import annotations

from pacenote.report.blocks import Chart, Column, Datum, Section, Series, Table, literal, say
from pacenote.report.model import CellView, StudyView
from pacenote.report.sections import SectionPart
from pacenote.segment import PHASES


def build(view: StudyView) -> Section | None:
    """Shares of the mean step, stacked, and the same figures with the time each stands for."""
    cells = [cell for cell in view.cells if cell.phases]
    if not cells:
        return None
    used = [name for name in PHASES if any(cell.phases.get(name, 0.0) > 0 for cell in cells)]
    chart = Chart(
        name="phases",
        kind="stack",
        title=say("chart.phases"),
        unit="share",
        categories=[literal(cell.label) for cell in cells],
        series=[
            Series(
                title=say(f"phase.{name}"),
                values=[cell.phases.get(name, 0.0) for cell in cells],
                group=PHASES.index(name),
            )
            for name in used
        ],
    )
    columns = [Column(title=say("column.cell"))]
    columns += [Column(title=say(f"phase.{name}"), unit="share") for name in used]
    columns += [Column(title=say("column.copied"), unit="bytes", narrow=False)]
    table = Table(name="phases", columns=columns, rows=[_row(cell, used) for cell in cells])
    return Section(
        name="phases", title=say("section.phases"), lead=say("lead.phases"), blocks=[chart, table], terminal=True
    )


def _row(cell: CellView, used: list[str]) -> list[Datum]:
    shares = [
        Datum(value=cell.phases.get(name, 0.0), tone="strong" if name == cell.dominant_phase else "") for name in used
    ]
    copied = Datum(value=cell.copied_bytes_per_step, reason=say("reason.not_recorded"))
    return [Datum(text=literal(cell.label)), *shares, copied]


PART = SectionPart(name="phases", place=30, build=build)
