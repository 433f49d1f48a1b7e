"""Findings, records and summaries put beside each other in one condition."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from fake_trials import trial

from pacenote.records import (
    Cell,
    ColdStart,
    Finding,
    LeverOutcome,
    Memory,
    Outcome,
    Reading,
    Sensors,
    Severity,
    Status,
    TrialRecord,
    TrialSpec,
    Turn,
)
from pacenote.report.cells import cell_view, trial_view
from pacenote.report.model import CellView, Estimate
from pacenote.report.readings import energy_per_sample, largest, middle
from pacenote.stats import summarize

SPEC = TrialSpec(workload="lenet", framework="pytorch", device="cuda:0", data_mode="device", levers={"batch_size": 32})


def record(number: int = 0, **changes: Any) -> TrialRecord:
    return trial([[0.01] * 4, [0.01] * 4], id=f"t{number}", round=number, spec=SPEC, **changes)


def crashed(number: int = 0) -> TrialRecord:
    return record(number, outcome=Outcome(status=Status.CRASHED), turns=[])


def viewed(*records: TrialRecord, findings: list[Finding] | None = None) -> CellView:
    return cell_view(Cell(label="a", spec=SPEC), records, findings or [])


def found(code: str, subject: str = "a", **params: Any) -> Finding:
    return Finding(code=code, subject=subject, params=params)


def copied(*counts: int) -> list[Turn]:
    turn = record().turns[0]
    return [msgspec.structs.replace(turn, turn=at, copied_bytes=count) for at, count in enumerate(counts)]


def test_condition_is_what_was_asked_for() -> None:
    view = viewed(record())
    assert (view.label, view.framework, view.device, view.data_mode) == ("a", "pytorch", "cuda:0", "device")
    assert view.levers == {"batch_size": 32}


def test_condition_without_processes_is_empty_and_not_measured() -> None:
    view = viewed()
    assert not view.measured
    assert not view.unhealthy
    assert view.rounds == view.steps == 0
    assert view.cold_start == {}
    assert view.copied_bytes_per_step is None
    assert {reading.reason for reading in view.memory.values()} == {"not_recorded"}
    assert set(view.memory) == set(Memory.__struct_fields__)


def test_findings_of_other_conditions_are_not_its_own() -> None:
    findings = [found("cell_time", "b", step_time_s=9.0), found("cell_time", "a", step_time_s=0.01)]
    view = viewed(record(), findings=findings)
    assert view.step_time == Estimate(value=0.01)
    assert view.findings == findings[1:]


def test_finding_about_two_conditions_is_not_one_of_either() -> None:
    assert viewed(findings=[found("ratio", "a/b")]).findings == []


@pytest.mark.parametrize(
    ("severity", "unhealthy"), [(Severity.INFO, False), (Severity.WARNING, False), (Severity.UNHEALTHY, True)]
)
def test_only_what_forbids_a_ratio_makes_it_unhealthy(severity: Severity, unhealthy: bool) -> None:
    assert viewed(findings=[Finding(code="steal", subject="a", severity=severity)]).unhealthy is unhealthy


def test_rounds_are_those_of_the_figures_or_else_of_the_finished_processes() -> None:
    assert viewed(record(0), record(1), crashed(2)).rounds == 2
    assert viewed(record(0), record(1), findings=[found("cell_time", step_time_s=1.0, rounds=1)]).rounds == 1


def test_throughput_turns_the_interval_of_the_step_time_over() -> None:
    params = {"step_time_s": 0.01, "low": 0.008, "high": 0.0125, "samples_per_s": 3200.0}
    view = viewed(record(), findings=[found("cell_time", **params)])
    assert view.throughput == Estimate(value=3200.0, low=pytest.approx(2560.0), high=pytest.approx(4000.0))


def test_throughput_of_one_process_keeps_the_reason_for_no_interval() -> None:
    params = {"step_time_s": 0.01, "low": None, "high": None, "samples_per_s": 3200.0, "reason": "one_process"}
    view = viewed(record(), findings=[found("cell_time", **params)])
    assert view.throughput == Estimate(value=3200.0, reason="one_process")
    assert view.step_time == Estimate(value=0.01, reason="one_process")


def test_throughput_of_unknown_batches_is_unknown() -> None:
    assert viewed(findings=[found("cell_time", step_time_s=0.01, samples_per_s=None)]).throughput is None


def test_phases_without_a_share_are_left_out() -> None:
    view = viewed(findings=[found("phases", forward=0.6, copy=None), found("dominant_phase", phase="forward")])
    assert view.phases == {"forward": 0.6}
    assert view.dominant_phase == "forward"


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"mfu_share": 0.4, "reason": ""}, Reading(value=0.4, method="formula")),
        ({"mfu_share": None, "reason": "not_calibrated"}, Reading(reason="not_calibrated")),
        ({"mfu_share": None, "reason": ""}, Reading(reason="not_recorded")),
        ({}, Reading(reason="not_recorded")),
    ],
)
def test_flops_are_a_value_or_a_reason(params: dict[str, Any], expected: Reading) -> None:
    assert viewed(findings=[found("flops", **params)]).mfu_share == expected


def test_failed_processes_do_not_enter_memory() -> None:
    small = record(0, memory=Memory(pss_bytes=Reading(value=1.0, method="measured")))
    large = msgspec.structs.replace(crashed(1), memory=Memory(pss_bytes=Reading(value=9.0, method="measured")))
    assert viewed(small, large).memory["pss_bytes"].value == 1.0


def test_peak_is_the_largest_of_all_processes() -> None:
    peaks = [record(at, memory=Memory(pss_bytes=Reading(value=value))) for at, value in enumerate((3.0, 7.0, 5.0))]
    assert viewed(*peaks).memory["pss_bytes"].value == 7.0


def test_sensor_is_the_middle_of_all_processes() -> None:
    powers = [Reading(value=value, method="measured") for value in (300.0, 500.0, 410.0)]
    view = viewed(*(record(at, sensors=Sensors(device_power_w=power)) for at, power in enumerate(powers)))
    assert view.sensors["device_power_w"].value == 410.0
    assert view.sensors["cpu_energy_j_per_sample"].reason == "not_recorded"


def test_cold_start_is_that_of_the_finding_or_else_of_the_first_process() -> None:
    start = ColdStart(import_s=2.0)
    assert viewed(record(cold_start=start)).cold_start["import_s"] == 2.0
    view = viewed(record(cold_start=start), findings=[found("cold_start", import_s=1.5, note="x")])
    assert view.cold_start == {"import_s": 1.5}


def test_copies_are_counted_in_measured_turns_only() -> None:
    steps = record().turns[0].steps
    assert viewed(record(turns=copied(10**9, 8 * steps, 4 * steps))).copied_bytes_per_step == 6.0


def test_last_process_tells_levers_framework_and_data() -> None:
    outcome = LeverOutcome(name="dtype", asked="bf16", observed="fp32", applied=False, reason="autocast_no_effect")
    last = msgspec.structs.replace(record(1), levers=[outcome], framework={"version": "2"}, data={"source": "stand-in"})
    view = viewed(record(0, framework={"version": "1"}), last)
    assert view.lever_outcomes == [outcome]
    assert view.framework_facts == {"version": "2"}
    assert view.data == {"source": "stand-in"}


# One process.


def test_process_has_its_steps_in_nanoseconds_with_their_turn() -> None:
    one = record()
    view = trial_view("a", one, summarize(one))
    assert len(view.step_ns) == len(view.turn) == 8
    assert view.turn == [0] * 4 + [1] * 4
    assert view.step_ns[5] == pytest.approx(10_000_000, rel=0.01)


def test_process_that_never_ran_has_no_steps_and_no_summary() -> None:
    failed = msgspec.structs.replace(
        crashed(),
        events=msgspec.structs.replace(crashed().events, t_ns=b"", code=b""),
        outcome=Outcome(status=Status.KILLED, error_type="Killed", error_text="signal 9", where="a.py:3"),
    )
    view = trial_view("a", failed, None)
    assert view.step_ns == view.turn == view.losses == []
    assert view.step_time_s is None
    assert (view.error_type, view.error_text, view.where) == ("Killed", "signal 9", "a.py:3")


def test_losses_of_all_turns_are_joined_in_order() -> None:
    turns = [msgspec.structs.replace(turn, losses=[(turn.turn, 1.0 / (turn.turn + 1))]) for turn in record().turns]
    assert trial_view("a", record(turns=turns), None).losses == [(0, 1.0), (1, 0.5)]


# Readings of several processes.


@pytest.mark.parametrize("bring", [largest, middle])
def test_no_value_anywhere_gives_the_first_reason(bring: Any) -> None:
    assert bring([Reading(), Reading(reason="no_sensor"), Reading(reason="no_rapl")]).reason == "no_sensor"
    assert bring([]).reason == "not_recorded"


@pytest.mark.parametrize("bring", [largest, middle])
def test_one_value_is_enough(bring: Any) -> None:
    found = bring([Reading(reason="no_sensor"), Reading(value=2.0, method="counted")])
    assert found == Reading(value=2.0, method="counted")


def test_zero_is_a_value_and_can_be_the_largest() -> None:
    assert largest([Reading(value=0.0), Reading(value=-1.0)]).value == 0.0


def test_energy_of_a_process_without_measured_steps_does_not_count() -> None:
    joules = Sensors(cpu_energy_j=Reading(value=100.0, method="measured"))
    idle = record(0, sensors=joules, turns=record().turns[:1])
    assert energy_per_sample([idle], "cpu_energy_j").reason == "not_recorded"
    unknown = record(1, sensors=joules, samples_per_step=None)
    assert energy_per_sample([unknown], "cpu_energy_j").reason == "not_recorded"
    good = record(2, sensors=joules)
    assert energy_per_sample([idle, unknown, good], "cpu_energy_j").value == pytest.approx(100.0 / (4 * 32))
