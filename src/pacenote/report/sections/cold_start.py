"""What happens once, before training is at speed."""

from __future__ import annotations

from pacenote.report.blocks import Chart, Column, Datum, Section, Series, Table, literal, say
from pacenote.report.model import CellView, StudyView
from pacenote.report.sections import SectionPart

_PARTS = ("process_s", "import_s", "device_init_s", "data_s", "build_s", "first_step_s")


def build(view: StudyView) -> Section | None:
    """Parts of the start, stacked, beside one steady step."""
    cells = [cell for cell in view.cells if cell.cold_start]
    used = [name for name in _PARTS if any(cell.cold_start.get(name) is not None for cell in cells)]
    if not used:
        return None
    chart = Chart(
        name="cold_start",
        kind="stack",
        title=say("chart.cold_start"),
        unit="s",
        categories=[literal(cell.label) for cell in cells],
        series=[
            Series(
                title=say(f"cold.{name}"),
                values=[cell.cold_start.get(name) for cell in cells],
                group=_PARTS.index(name),
            )
            for name in used
        ],
    )
    columns = [Column(title=say("column.cell"))]
    columns += [Column(title=say(f"cold.{name}"), unit="s") for name in used]
    columns += [Column(title=say("column.steady_step"), unit="s")]
    table = Table(name="cold_start", columns=columns, rows=[_row(cell, used) for cell in cells])
    return Section(
        name="cold_start", title=say("section.cold_start"), lead=say("lead.cold_start"), blocks=[chart, table]
    )


def _row(cell: CellView, used: list[str]) -> list[Datum]:
    missing = say("reason.not_recorded")
    parts = [Datum(value=cell.cold_start.get(name), reason=missing) for name in used]
    steady = cell.step_time.value if cell.step_time else None
    return [Datum(text=literal(cell.label)), *parts, Datum(value=steady, reason=missing)]


PART = SectionPart(name="cold_start", place=60, build=build)
