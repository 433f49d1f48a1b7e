"""Phases, memory, energy, cold start and loss: the sections of one quantity per condition."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from fixtures.views import SENSORS, cell, sensors, study, trial
from fixtures.views import memory as memory_of

from pacenote.records import Reading
from pacenote.report.blocks import Chart, Section, Table
from pacenote.report.content import chart_data
from pacenote.report.model import StudyView
from pacenote.report.sections import cold_start, energy, learning, memory, phases
from pacenote.report.words import Tidy, speak, tidy
from pacenote.segment import PHASES


def made(part: Any, view: StudyView) -> Section:
    section = part.build(view)
    assert isinstance(section, Section)
    return section


def chart(section: Section) -> Chart:
    return next(block for block in section.blocks if isinstance(block, Chart))


def table(section: Section) -> Tidy:
    return tidy(next(block for block in section.blocks if isinstance(block, Table)))


def titles(shown: Tidy) -> list[str]:
    return [speak("en", column.title) for column in shown.columns]


def absent(shown: Tidy, lang: str = "en") -> dict[str, list[str]]:
    return {speak(lang, reason): [speak(lang, title) for title in names] for reason, names in shown.absent}


@pytest.mark.parametrize("part", [phases, memory, energy, cold_start, learning])
def test_section_with_nothing_to_show_is_left_out(part: Any) -> None:
    assert part.build(study(cell())) is None
    assert part.build(study()) is None


# Phases.


def test_only_phases_that_took_time_are_columns() -> None:
    section = made(phases, study(cell("a", phases={"forward": 0.6, "backward": 0.4, "copy": 0.0})))
    assert titles(table(section)) == ["Condition", "Forward", "Backward"]
    assert [speak("en", series.title) for series in chart(section).series] == ["Forward", "Backward"]


def test_phase_of_one_condition_is_zero_in_the_other() -> None:
    view = study(cell("a", phases={"forward": 1.0}), cell("b", phases={"forward": 0.9, "copy": 0.1}))
    section = made(phases, view)
    assert titles(table(section)) == ["Condition", "Host-to-device copy", "Forward"]
    assert [shown.number for shown in table(section).rows[0][1:]] == ["0.0", "100.0"]
    assert [series.values for series in chart(section).series] == [[0.0, 0.1], [1.0, 0.9]]


def test_colour_of_a_phase_does_not_depend_on_which_others_there_are() -> None:
    few = chart(made(phases, study(cell("a", phases={"optimizer": 1.0}))))
    assert [series.group for series in few.series] == [PHASES.index("optimizer")]


def test_dominant_phase_stands_out() -> None:
    section = made(phases, study(cell(phases={"forward": 0.3, "backward": 0.7}, dominant_phase="backward")))
    assert [shown.tone for shown in table(section).rows[0][1:]] == ["", "strong"]


def test_copied_bytes_are_shown_where_something_was_copied() -> None:
    section = made(phases, study(cell(phases={"copy": 1.0}, copied_bytes_per_step=3 * 2**20)))
    assert (table(section).rows[0][2].number, table(section).rows[0][2].suffix) == ("3.00", "MiB")
    nothing = made(phases, study(cell(phases={"copy": 1.0})))
    assert absent(table(nothing)) == {"not recorded": ["Copied per step"]}


def test_condition_without_phases_has_no_bar() -> None:
    section = made(phases, study(cell("a", phases={"forward": 1.0}), cell("b", None)))
    assert [speak("en", one) for one in chart(section).categories] == ["a"]


def test_shares_are_drawn_in_percent() -> None:
    drawn = chart_data(chart(made(phases, study(cell(phases={"forward": 0.25, "other": 0.75})))))
    assert drawn["unit"]["en"] == "%"
    assert [series["values"] for series in drawn["series"]] == [[25.0], [75.0]]


# Memory.


def test_memory_nobody_could_read_is_named_with_its_reason() -> None:
    section = made(memory, study(cell(memory=memory_of(pss_bytes=2**30))))
    shown = table(section)
    assert titles(shown) == ["Condition", "PSS"]
    assert "Device peak" in absent(shown)["the device is the CPU"]
    assert "设备峰值" in absent(shown, "zh")["设备是 CPU"]


def test_memory_of_an_accelerator_is_drawn_beside_that_of_the_host() -> None:
    section = made(memory, study(cell(memory=memory_of(pss_bytes=2**30, device_peak_bytes=8 * 2**30))))
    assert [speak("en", series.title) for series in chart(section).series] == ["PSS", "Device peak"]
    drawn = chart_data(chart(section))
    assert drawn["unit"]["en"] == "GiB"
    assert [series["values"] for series in drawn["series"]] == [[1.0], [8.0]]


def test_gap_of_one_condition_is_a_gap_and_not_a_zero() -> None:
    view = study(cell("a", memory=memory_of(pss_bytes=2**30)), cell("b", memory=memory_of(rss_peak_bytes=2**30)))
    section = made(memory, view)
    assert [series.values for series in chart(section).series] == [[2.0**30, None], [None, 2.0**30]]
    gap = table(section).rows[1][titles(table(section)).index("PSS")]
    assert gap.reason is not None
    assert gap.sort is None


def test_memory_without_any_reading_is_a_list_of_reasons_without_a_chart() -> None:
    section = made(memory, study(cell(memory=memory_of())))
    assert [type(block) for block in section.blocks] == [Table]
    assert len(table(section).columns) == 1


def test_faults_are_counted_and_not_measured_in_bytes() -> None:
    section = made(memory, study(cell(memory=memory_of(minor_faults=51230.0))))
    assert (table(section).rows[0][1].number, table(section).rows[0][1].suffix) == ("51,230", "")


def test_condition_that_failed_has_no_memory_row() -> None:
    view = study(cell("a", memory=memory_of(pss_bytes=1.0)), cell("b", None, memory=memory_of(pss_bytes=1.0)))
    assert len(table(made(memory, view)).rows) == 1


# Energy and sensors.


def test_each_missing_sensor_stands_under_its_own_reason() -> None:
    found = sensors("no_sensor", cpu_energy_j_per_sample=0.0042)
    found |= {"dram_energy_j_per_sample": Reading(reason="no_dram_counter")}
    shown = table(made(energy, study(cell(sensors=found))))
    assert titles(shown) == ["Condition", "CPU energy per sample"]
    assert absent(shown)["no DRAM counter"] == ["DRAM energy per sample"]
    assert len(absent(shown)["no such sensor"]) == 7


def test_sensors_of_an_accelerator_have_their_units() -> None:
    found = sensors(
        device_power_w=412.0,
        device_utilisation_share=0.93,
        device_clock_hz=1.98e9,
        device_temperature_c=61.0,
        device_energy_j_per_sample=0.0021,
    )
    shown = table(made(energy, study(cell(device="cuda:0", sensors=found))))
    figures = [f"{one.number} {one.suffix}" for one in shown.rows[0][1:]]
    assert figures == ["2.10 mJ", "412 W", "93.0 %", "1.98 GHz", "61.0 °C"]


def test_every_sensor_reading_of_a_condition_reaches_the_table() -> None:
    shown = table(made(energy, study(cell(sensors=sensors(**dict.fromkeys(SENSORS, 1.0))))))
    totals = {"cpu_energy_j", "dram_energy_j", "device_energy_j"}  # shown per sample
    assert len(shown.columns) - 1 == len(set(SENSORS) - totals)


# Cold start.


def test_parts_of_the_start_stand_in_the_order_they_happen() -> None:
    parts = {"first_step_s": 0.5, "process_s": 0.05, "import_s": 2.0, "data_s": None}
    section = made(cold_start, study(cell(cold_start=parts)))
    assert titles(table(section)) == ["Condition", "Process", "Import", "First step", "Steady step"]
    assert chart(section).kind == "stack"


def test_start_of_a_condition_that_never_got_steady_says_so() -> None:
    view = study(cell("a", cold_start={"import_s": 1.0}), cell("b", None, cold_start={"import_s": 2.0}))
    shown = table(made(cold_start, view))
    gap = shown.rows[1][-1]
    assert gap.reason is not None
    assert speak("en", gap.reason) == "not recorded"


def test_unknown_part_is_a_gap_in_the_stack() -> None:
    view = study(cell("a", cold_start={"import_s": 1.0}), cell("b", cold_start={"process_s": 1.0}))
    assert [series.values for series in chart(made(cold_start, view)).series] == [[None, 1.0], [1.0, None]]


# Loss.


def test_loss_is_taken_from_the_first_process_that_has_any() -> None:
    trials = [trial("a", 0), trial("a", 1, losses=[(0, 2.3), (1, 2.1)]), trial("a", 2, losses=[(0, 9.0), (1, 9.0)])]
    section = made(learning, study(cell("a"), trials=trials))
    assert [series.points for series in chart(section).series] == [[(0.0, 2.3), (1.0, 2.1)]]


def test_single_loss_is_no_curve() -> None:
    assert learning.build(study(cell("a"), trials=[trial("a", losses=[(0, 2.3)])])) is None


def test_colour_of_a_condition_is_its_place_in_the_study() -> None:
    losses = [(0, 2.0), (1, 1.0)]
    view = study(cell("a"), cell("b"), cell("c"), trials=[trial("a"), trial("c", losses=losses)])
    assert [(speak("en", series.title), series.group) for series in chart(made(learning, view)).series] == [("c", 2)]


@pytest.mark.parametrize("count", [2, 199, 200, 201, 5000])
def test_long_curve_is_thinned_evenly_from_its_first_step(count: int) -> None:
    view = study(cell("a"), trials=[trial("a", losses=[(step, 1.0 / (step + 1)) for step in range(count)])])
    (series,) = chart(made(learning, view)).series
    steps = [step for step, _ in series.points]
    assert steps[0] == 0.0
    assert len(steps) <= 200
    assert len({later - earlier for earlier, later in pairwise(steps)}) == 1
