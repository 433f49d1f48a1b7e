"""Speed of every condition and the ratios between them."""

from __future__ import annotations

from typing import Any

import pytest
from fixtures.views import cell, ratio, sick, study, warned

from pacenote.records import Reading
from pacenote.report.blocks import Chart, Lines, Section, Table
from pacenote.report.content import chart_data
from pacenote.report.model import CellView, Estimate, StudyView
from pacenote.report.sections import comparison
from pacenote.report.words import Shown, show, speak

WIDE = Estimate(value=100.0, low=20.0, high=500.0)


def made(view: StudyView) -> Section:
    section = comparison.build(view)
    assert section is not None
    return section


def table(view: StudyView, name: str) -> list[dict[str, Shown]]:
    """The rows of a table, each cell by the English title of its column; an interval has a title of its own."""
    found = next(block for block in made(view).blocks if isinstance(block, Table) and block.name == name)
    rows = []
    for row in found.rows:
        shown: dict[str, Shown] = {}
        for column, datum in zip(found.columns, row, strict=True):
            title = speak("en", column.title)
            shown[f"{title} of {column.unit}" if title in shown else title] = show(datum, column.unit)
        rows.append(shown)
    return rows


def chart(view: StudyView, name: str) -> Chart:
    return next(block for block in made(view).blocks if isinstance(block, Chart) and block.name == name)


def reason(shown: Shown) -> str:
    assert shown.reason is not None
    return speak("en", shown.reason)


def words(shown: Shown) -> str:
    assert shown.text is not None
    return speak("en", shown.text)


def test_study_of_no_condition_has_no_comparison() -> None:
    assert comparison.build(study()) is None


def test_one_condition_is_shown_without_ratios() -> None:
    section = made(study(cell("only")))
    assert [block.name for block in section.blocks] == ["throughput", "results"]
    assert section.terminal


def test_every_condition_has_a_row_in_the_order_of_the_study() -> None:
    labels = [f"cell {number}" for number in range(40)]
    rows = table(study(*(cell(label) for label in labels)), "results")
    assert [words(row["Condition"]) for row in rows] == labels


def test_a_row_holds_value_and_interval_on_base_units() -> None:
    (row,) = table(study(cell(step_s=0.01)), "results")
    assert (row["Throughput"].number, row["Throughput"].suffix) == ("3,200", "samples/s")
    assert row["Throughput"].sort == 3200.0
    assert (row["Step time"].number, row["Step time"].suffix) == ("10.0", "ms")
    assert row["95 % interval of s"].number == "9.50 – 10.5"


def test_one_process_gives_a_value_and_says_why_no_interval() -> None:
    alone = Estimate(value=0.01, reason="one_process")
    (row,) = table(study(cell(step_time=alone, throughput=Estimate(value=3200.0), rounds=1)), "results")
    assert row["Step time"].number == "10.0"
    assert reason(row["95 % interval of s"]) == "one process gives no interval"
    assert reason(row["95 % interval"]) == "one round gives no interval"


def test_throughput_can_be_unknown_while_step_time_is_known() -> None:
    (row,) = table(study(cell(throughput=None)), "results")
    assert reason(row["Throughput"]) == "not recorded"
    assert reason(row["95 % interval"]) == "–"
    assert row["Step time"].number == "10.0"


def test_unknown_flops_carry_their_reason() -> None:
    view = study(cell(mfu_share=Reading(reason="no_formula"), achieved_flops=Reading(reason="no_formula")))
    (row,) = table(view, "results")
    assert reason(row["MFU"]) == "no formula for this workload"


def test_failed_condition_keeps_its_row_and_says_how_it_ended() -> None:
    failed = warned("trial_failed", "b", status="out_of_memory", count=2)
    view = study(cell("a"), cell("b", None, rounds=0, steps=0, findings=[failed]))
    row = table(view, "results")[1]
    assert words(row["Throughput"]) == "out of memory"
    assert reason(row["Step time"]) == "–"
    assert row["Processes"].number == row["Steps"].number == "0"
    assert [speak("en", one) for one in chart(view, "throughput").categories] == ["a"]


def test_condition_that_gave_nothing_for_no_told_reason_has_failed() -> None:
    row = table(study(cell("a", None, rounds=0)), "results")[0]
    assert words(row["Throughput"]) == "failed"


def test_condition_whose_processes_finished_without_a_figure_has_not_failed() -> None:
    row = table(study(cell("a", None, rounds=3)), "results")[0]
    assert reason(row["Throughput"]) == "–"


def test_disturbed_condition_is_muted_in_the_chart_and_red_in_the_table() -> None:
    view = study(cell("a"), cell("b", findings=[sick("steal", "b", steal_share=0.2)]))
    assert chart(view, "throughput").series[0].muted == [False, True]
    assert [row["Condition"].tone for row in table(view, "results")] == ["", "bad"]


@pytest.mark.parametrize(
    ("finding", "result", "tone"),
    [
        (ratio(speedup=1.5), "faster", "good"),
        (ratio(speedup=0.5), "slower", "warn"),
        (ratio(speedup=1.01, distinct=False), "no difference seen", "muted"),
        (ratio(low=None, high=None, distinct=False, reason="one_process"), "one process gives no interval", "muted"),
        (ratio(low=None, high=None, distinct=False), "one round gives no interval", "muted"),
        (ratio(code="ratio_forced", reasons=["steal"]), "forced", "bad"),
        (ratio(code="ratio_refused", speedup=None, reasons=["steal"]), "refused: CPU time taken by the host", "bad"),
        (
            ratio(code="ratio_refused", speedup=None, reasons=["steal", "swapping"]),
            "refused: CPU time taken by the host, swapping",
            "bad",
        ),
    ],
)
def test_a_ratio_is_read_out(finding: Any, result: str, tone: str) -> None:
    (row,) = table(study(cell("a"), cell("b"), findings=[finding]), "ratios")
    assert words(row["Result"]) == result
    assert row["Result"].tone == tone


def test_refused_ratio_has_neither_number_nor_chart() -> None:
    view = study(cell("a"), cell("b"), findings=[ratio(code="ratio_refused", speedup=None, reasons=["steal"])])
    (row,) = table(view, "ratios")
    assert row["Speed-up"].number == row["95 % interval"].number == ""
    assert "speedup" not in [block.name for block in made(view).blocks]


def test_refused_ratio_is_left_out_of_a_chart_of_others() -> None:
    findings = [ratio(cell="b"), ratio(cell="c", code="ratio_refused", speedup=None, reasons=["steal"])]
    view = study(cell("a"), cell("b"), cell("c"), findings=findings)
    assert [speak("en", pair) for pair in chart(view, "speedup").categories] == ["b vs a"]


def test_ratio_without_interval_is_drawn_as_a_point() -> None:
    view = study(cell("a"), cell("b"), findings=[ratio(low=None, high=None)])
    drawn = chart_data(chart(view, "speedup"))
    assert drawn["series"][0]["values"] == [1.5]
    assert drawn["series"][0]["low"] == drawn["series"][0]["high"] == [None]
    assert drawn["top"] is None


def test_forced_ratio_says_so_in_words_and_in_grey() -> None:
    forced = ratio(code="ratio_forced", reasons=["swapping"])
    view = study(cell("a"), cell("b"), findings=[forced])
    lines = [block for block in made(view).blocks if isinstance(block, Lines)]
    assert [speak("en", line.text) for line in lines[0].lines] == [
        "b would be 1.50× as fast as a, but a side is unhealthy: swapping."
    ]
    assert chart(view, "speedup").series[0].muted == [True]


# Intervals too wide to say anything.


def wide(**changes: Any) -> CellView:
    return cell("wide", throughput=WIDE, step_time=Estimate(value=0.3, low=0.06, high=1.6), **changes)


def test_enormous_interval_of_two_processes_is_said_to_be_too_wide() -> None:
    (row,) = table(study(wide(rounds=2)), "results")
    assert row["Throughput"].number == "100"
    assert words(row["95 % interval"]) == "too wide to say (2 processes)"
    assert words(row["95 % interval of s"]) == "too wide to say (2 processes)"


@pytest.mark.parametrize("rounds", [3, 10])
def test_enormous_interval_of_more_processes_is_given(rounds: int) -> None:
    (row,) = table(study(wide(rounds=rounds)), "results")
    assert row["95 % interval"].number == "20.0 – 500"


def test_ordinary_interval_of_two_processes_is_given() -> None:
    (row,) = table(study(cell(rounds=2)), "results")
    assert row["95 % interval of s"].number == "9.50 – 10.5"


def test_ratio_of_two_rounds_can_be_too_wide() -> None:
    view = study(cell("a"), cell("b"), findings=[ratio(low=0.1, high=9.0, rounds=2, distinct=False)])
    (row,) = table(view, "ratios")
    assert words(row["95 % interval"]) == "too wide to say (2 processes)"
    assert words(row["Result"]) == "no difference seen"


# The axis.


def test_axis_ends_at_three_times_the_largest_value_when_a_whisker_goes_further() -> None:
    drawn = chart_data(chart(study(cell("a", 0.32), wide()), "throughput"))
    assert drawn["series"][0]["values"] == [100.0, 100.0]
    assert drawn["series"][0]["high"][1] == 500.0
    assert drawn["top"] == 300.0


def test_axis_is_left_alone_when_all_whiskers_fit() -> None:
    assert chart_data(chart(study(cell("a"), cell("b")), "throughput"))["top"] is None


def test_axis_of_ratios_takes_the_reference_in() -> None:
    view = study(cell("a"), cell("b"), findings=[ratio(speedup=0.1, low=0.001, high=10.0)])
    assert chart_data(chart(view, "speedup"))["top"] == 3.0
