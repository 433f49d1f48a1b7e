"""Energy, power, clocks and temperature, where a sensor exists."""

from __future__ import annotations

from pacenote.report.blocks import Column, Datum, Section, Table, literal, reading, say
from pacenote.report.model import StudyView
from pacenote.report.sections import SectionPart

_COLUMNS = {
    "cpu_energy_j_per_sample": "j",
    "dram_energy_j_per_sample": "j",
    "device_energy_j_per_sample": "j",
    "device_power_w": "w",
    "device_utilisation_share": "share",
    "device_clock_hz": "hz",
    "device_temperature_c": "c",
    "cpu_clock_hz": "hz",
    "cpu_temperature_c": "c",
}


def build(view: StudyView) -> Section | None:
    """One table; absent sensors stay in it with their reason."""
    cells = [cell for cell in view.cells if cell.sensors and cell.measured]
    if not cells:
        return None
    columns = [Column(title=say("column.cell"))]
    columns += [Column(title=say(f"sensor.{name}"), unit=unit) for name, unit in _COLUMNS.items()]
    rows = [[Datum(text=literal(cell.label)), *(reading(cell.sensors[name]) for name in _COLUMNS)] for cell in cells]
    table = Table(name="sensors", columns=columns, rows=rows)
    return Section(name="energy", title=say("section.energy"), lead=say("lead.energy"), blocks=[table])


PART = SectionPart(name="energy", place=50, build=build)
