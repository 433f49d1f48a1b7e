"""Host and device memory."""

from __future__ import annotations

from pacenote.report.blocks import Chart, Column, Datum, Section, Series, Table, literal, reading, say
from pacenote.report.model import StudyView
from pacenote.report.sections import SectionPart

_UNITS = {"major_faults": "count", "minor_faults": "count"}
_CHARTED = ("pss_bytes", "rss_peak_bytes", "device_peak_bytes")


def build(view: StudyView) -> Section | None:
    """Peaks per condition; a quantity that nobody could read keeps its column and says why."""
    cells = [cell for cell in view.cells if cell.memory and cell.measured]
    if not cells:
        return None
    names = list(cells[0].memory)
    charted = [name for name in _CHARTED if any(cell.memory[name].value is not None for cell in cells)]
    columns = [Column(title=say("column.cell"))]
    columns += [Column(title=say(f"memory.{name}"), unit=_UNITS.get(name, "bytes")) for name in names]
    rows = [[Datum(text=literal(cell.label)), *(reading(cell.memory[name]) for name in names)] for cell in cells]
    section = Section(name="memory", title=say("section.memory"), lead=say("lead.memory"))
    if charted:
        series = [
            Series(
                title=say(f"memory.{name}"),
                values=[cell.memory[name].value for cell in cells],
                group=_CHARTED.index(name),
            )
            for name in charted
        ]
        categories = [literal(cell.label) for cell in cells]
        section.blocks.append(
            Chart(
                name="memory",
                kind="bars",
                title=say("chart.memory"),
                unit="bytes",
                categories=categories,
                series=series,
            )
        )
    section.blocks.append(Table(name="memory", columns=columns, rows=rows))
    return section


PART = SectionPart(name="memory", place=40, build=build)
