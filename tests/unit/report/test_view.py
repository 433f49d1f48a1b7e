from __future__ import annotations

import msgspec
import pytest
from fixtures.study import ROUNDS, STEPS_PER_TURN, TURNS, make_study, selftest_findings

from pacenote.findings import judge
from pacenote.records import Finding, Reading, Severity
from pacenote.report import text, view
from pacenote.report.headline import fastest, key_figures, sentences
from pacenote.report.readings import energy_per_sample, largest, middle
from pacenote.report.sections import compose, health
from pacenote.report.words import speak
from pacenote.stats import summarize


def test_cells_keep_the_order_of_the_study_and_their_own_findings() -> None:
    made = make_study()
    built = view.build(*made)
    assert [cell.label for cell in built.cells] == [cell.label for cell in made.study.cells]
    assert built.cells[0].step_time == view.Estimate(value=0.0084, low=0.0084 * 0.975, high=0.0084 * 1.026)
    assert [cell.label for cell in built.cells if cell.unhealthy] == ["paddle b256"]
    assert [cell.label for cell in built.cells if not cell.measured] == ["pytorch b65536"]


def test_throughput_interval_is_the_step_interval_turned_over() -> None:
    cell = view.build(*make_study()).cells[0]
    assert cell.throughput is not None
    assert cell.throughput.low == pytest.approx(32 / (0.0084 * 1.026))
    assert cell.throughput.high == pytest.approx(32 / (0.0084 * 0.975))


def test_raw_steps_are_all_there_with_their_turn() -> None:
    built = view.build(*make_study())
    steps = [trial for trial in built.trials if trial.step_ns]
    assert len(steps) == 4 * ROUNDS
    assert all(len(trial.step_ns) == STEPS_PER_TURN * TURNS == len(trial.turn) for trial in steps)
    assert steps[0].turn[::STEPS_PER_TURN] == list(range(TURNS))


def test_trial_of_no_cell_is_left_out() -> None:
    made = make_study()
    study = msgspec.structs.replace(made.study, cells=made.study.cells[:1])
    built = view.build(study, made.records, made.summaries, made.environment)
    assert {trial.cell for trial in built.trials} == {"pytorch b32"}


def test_view_without_environment_summaries_or_findings_still_stands() -> None:
    made = make_study(findings=[])
    built = view.build(made.study, [], [], None)
    assert built.environment == {}
    assert not any(cell.measured for cell in built.cells)
    assert [sentence.key for sentence in sentences(built)] == ["verdict.none"]
    assert key_figures(built) == []


def test_fastest_is_a_healthy_condition() -> None:
    built = view.build(*make_study())
    best = fastest(built)
    assert best is not None
    assert best.label == "pytorch b256"
    disturbed = msgspec.structs.replace(built, cells=[cell for cell in built.cells if cell.unhealthy])
    assert fastest(disturbed) is None
    assert key_figures(disturbed) == []


def test_nothing_is_called_fastest_without_that_verdict() -> None:
    found = [item for item in make_study().study.findings if item.code != "verdict_fastest"]
    titles = [figure.title.key for figure in key_figures(view.build(*make_study(findings=found)))]
    assert "kpi.fastest" not in titles
    assert titles[0] == "column.samples_per_s"


def test_conclusions_of_the_rules_fit_the_report() -> None:
    made = make_study()
    summaries = [summarize(record) for record in made.records]
    found = judge(made.study, made.records, summaries, made.environment)
    study = msgspec.structs.replace(made.study, findings=found)
    built = view.build(study, made.records, summaries, made.environment)
    assert [cell.label for cell in built.cells if cell.measured] == [cell.label for cell in made.study.cells[:4]]
    keys = [sentence.key for sentence in sentences(built)]
    assert keys[0] == "finding.verdict_fastest"
    assert len(keys) == 2
    assert all(cell.phases and cell.throughput and cell.throughput.low for cell in built.cells if cell.measured)
    assert next(block for block in compose(built)[1].blocks if block.name == "ratios")


def test_health_tells_what_to_do_once_for_each_kind() -> None:
    kinds = (("steal", "a"), ("few_steps", "a"), ("swapping", "b"), ("steal", "b"))
    found = [
        Finding(
            code=code, subject=cell, severity=Severity.WARNING if code == "few_steps" else Severity.UNHEALTHY, params={}
        )
        for code, cell in kinds
    ]
    section = health.build(view.build(*make_study(findings=found)))
    assert section is not None
    lines = section.blocks[0].lines
    told = [(line.text.key.removeprefix("finding."), speak("en", line.subject), line.fix is not None) for line in lines]
    assert told == [("steal", "a, b", True), ("swapping", "b", True), ("few_steps", "a", True)]


def test_refused_verdict_is_not_repeated_among_the_limits() -> None:
    refused = Finding(code="verdict_refused", severity=Severity.WARNING, params={"reasons": ["steal"]})
    built = view.build(*make_study(findings=[refused]))
    assert "verdict" not in [section.name for section in compose(built)]


def test_verdict_of_a_selftest() -> None:
    built = view.build(*make_study(question="selftest", findings=selftest_findings()))
    assert text.verdict(built, "en") == (
        "Differences of 1.3 % and more can be seen on this machine. "
        "1 of 2 planted slow-downs were measured within their interval."
    )
    nothing = view.build(*make_study(question="selftest", findings=[]))
    assert text.verdict(nothing, "zh") == "自检没有结果：机器受到干扰。"


def test_remedy_in_the_verdict_carries_the_figures_of_its_finding() -> None:
    found = [
        Finding(code="verdict_refused", params={"reasons": ["threads_over_cores"]}),
        Finding(code="verdict_do", params={"cell": "a", "finding": "threads_over_cores", "threads": 8, "cores": 2}),
        Finding(code="verdict_why", params={"cell": "a", "phase": "forward", "share": 0.5}),
    ]
    built = view.build(*make_study(findings=found))
    assert text.verdict(built, "en") == "No comparison can be made: more threads than cores. For a: Use --threads 2."


def test_readings_of_several_processes() -> None:
    known = [Reading(value=2.0, method="measured"), Reading(reason="no_sensor"), Reading(value=6.0, method="measured")]
    assert largest(known).value == 6.0
    assert middle(known) == Reading(value=4.0, method="measured")
    assert largest([Reading(), Reading(reason="no_sensor")]).reason == "no_sensor"
    assert middle([]).reason == "not_recorded"


def test_energy_per_sample_counts_measured_turns_only() -> None:
    record = make_study().records[0]
    sensors = msgspec.structs.replace(record.sensors, cpu_energy_j=Reading(value=115.2, method="measured"))
    record = msgspec.structs.replace(record, sensors=sensors)
    expected = 115.2 / ((TURNS - 1) * STEPS_PER_TURN * 32)
    assert energy_per_sample([record], "cpu_energy_j").value == pytest.approx(expected)
    assert energy_per_sample([record], "dram_energy_j").reason == "no_sensor"
