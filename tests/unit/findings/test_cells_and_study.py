"""What is said about one cell and about the study as a whole, each finding with and without its cause."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from sick_trials import healthy

from pacenote.findings.cells import judge_cell, phase_shares, samples_per_s
from pacenote.findings.codes import CODES
from pacenote.findings.evidence import Evidence
from pacenote.findings.selftest import examine_selftest
from pacenote.findings.whole import judge_whole, widest
from pacenote.records import (
    Cell,
    ColdStart,
    Environment,
    Finding,
    LeverOutcome,
    Outcome,
    Reading,
    Severity,
    Status,
    Study,
    TrialRecord,
    TrialSpec,
)
from pacenote.stats import TrialSummary

SPEC = TrialSpec(workload="lenet", framework="pytorch", levers={"threads": 4})
RECORD = healthy(spec=SPEC)
EVEN = {"data_wait": 0.2, "copy": 0.0, "forward": 0.3, "backward": 0.3, "optimizer": 0.2, "other": 0.0}


def process(number: int = 0, step_s: float | None = 1.0, **changes: Any) -> TrialSummary:
    fields: dict[str, Any] = {
        "trial_id": f"t{number}",
        "round": number,
        "steps": 50,
        "step_time_s": step_s,
        "step_time_median_s": step_s,
        "step_time_block_s": step_s,
        "step_time_mean_s": step_s,
        "samples_per_step": 32,
        "time_per_sample_s": None if step_s is None else step_s / 32,
        "phase_s": {name: share * (step_s or 0.0) for name, share in EVEN.items()},
    }
    return TrialSummary(**{**fields, **changes})


def cell(
    *used: TrialSummary, records: list[TrialRecord] | None = None, spec: TrialSpec = SPEC, **more: Any
) -> Evidence:
    kept = [RECORD] if records is None else records
    return Evidence(Cell(label=more.pop("label", "a"), spec=spec), kept, list(used), more.pop("health", []))


def record(status: Status = Status.FINISHED, **changes: Any) -> TrialRecord:
    outcome = changes.pop("outcome", None) or Outcome(status=status)
    return msgspec.structs.replace(RECORD, outcome=outcome, **changes)


def said(found: list[Finding], code: str) -> list[Finding]:
    for finding in found:
        assert set(CODES[finding.code]) <= set(finding.params)
    return [finding for finding in found if finding.code == code]


def params(found: list[Finding], code: str) -> dict[str, Any]:
    (finding,) = said(found, code)
    return finding.params


def study(**changes: Any) -> Study:
    return Study(id="s", question="run", created_unix_s=0.0, **changes)


@pytest.mark.parametrize(
    ("other", "device", "planted", "told"),
    [
        (0.05, "cpu", 1.0, False),
        (0.0501, "cpu", 1.0, True),
        (0.5, "cuda:0", 1.0, False),  # the host waits for the device
        (0.5, "cpu", 1.1, False),  # a planted slow-down spins between steps
    ],
)
def test_time_in_no_phase(other: float, device: str, planted: float, told: bool) -> None:
    phases = {**EVEN, "other": other, "forward": 0.3 - other}
    spec = msgspec.structs.replace(SPEC, device=device, planted_slowdown_ratio=planted)
    assert bool(said(judge_cell(cell(process(phase_s=phases), spec=spec), 0.95), "unattributed_high")) == told


def test_shares_of_phases_are_averaged_over_processes_not_over_time() -> None:
    waiting = {**dict.fromkeys(EVEN, 0.0), "data_wait": 9.0}
    shares = phase_shares(cell(process(0), process(1, 9.0, phase_s=waiting)))
    assert shares["data_wait"] == pytest.approx((0.2 + 1.0) / 2)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert phase_shares(cell(process(step_s=None))) == {}


def test_the_first_of_equal_phases_dominates() -> None:
    assert params(judge_cell(cell(process()), 0.95), "dominant_phase") == {"phase": "forward", "share": 0.3}


def test_without_phases_nothing_dominates() -> None:
    found = judge_cell(cell(process(step_time_mean_s=None)), 0.95)
    assert said(found, "phases") == said(found, "dominant_phase") == []
    assert said(found, "cell_time")


def test_throughput_needs_steps_and_samples() -> None:
    assert samples_per_s(cell(process(0, 2.0), process(1, 2.0))) == pytest.approx(16.0)
    assert samples_per_s(cell(process(samples_per_step=None))) is None
    assert samples_per_s(cell()) is None


def test_time_counts_only_processes_with_steps() -> None:
    found = params(judge_cell(cell(process(0), process(1, None, steps=9), process(2)), 0.9), "cell_time")
    assert (found["rounds"], found["steps"], found["level"], found["reason"]) == (2, 100, 0.9, "")
    single = params(judge_cell(cell(process()), 0.95), "cell_time")
    assert (single["low"], single["reason"]) == (None, "one_process")


@pytest.mark.parametrize(
    ("flop", "ceiling", "expected"),
    [
        (Reading(value=10.0), Reading(value=640.0), (320.0, 640.0, 0.5, "")),
        (Reading(value=10.0), Reading(reason="not_calibrated"), (320.0, None, None, "not_calibrated")),
        (Reading(reason="no_formula"), Reading(value=640.0), (None, 640.0, None, "no_formula")),
        (Reading(), Reading(), (None, None, None, "not_recorded")),
        (Reading(value=10.0), Reading(value=0.0), (320.0, 0.0, None, "not_recorded")),
    ],
)
def test_flops_by_formula_and_ceiling(flop: Reading, ceiling: Reading, expected: tuple[Any, ...]) -> None:
    known = [record(flop_per_sample=flop, ceiling_flops=ceiling)]
    found = params(judge_cell(cell(process(), records=known), 0.95), "flops")
    assert tuple(found[name] for name in ("achieved_flops", "ceiling_flops", "mfu_share", "reason")) == expected


def test_a_cold_start_is_the_median_of_each_part() -> None:
    starts = [ColdStart(import_s=1.0, first_step_s=0.5), ColdStart(import_s=3.0), ColdStart(import_s=2.0)]
    records = [record(cold_start=one) for one in starts] + [record(Status.CRASHED, cold_start=ColdStart(import_s=99.0))]
    found = params(judge_cell(cell(process(), records=records), 0.95), "cold_start")
    assert (found["import_s"], found["first_step_s"], found["build_s"]) == (2.0, 0.5, None)


def test_each_way_of_ending_early_is_told_once_with_its_last_words() -> None:
    records = [
        record(outcome=Outcome(status=Status.CRASHED, error_type="ValueError", error_text="first")),
        record(outcome=Outcome(status=Status.CRASHED, error_type="TypeError", error_text="last", where="a.py:1")),
        record(outcome=Outcome(status=Status.KILLED, signal="SIGKILL")),
        record(outcome=Outcome(status=Status.MISSING)),
        record(),
    ]
    found = said(judge_cell(cell(process(), records=records), 0.95), "trial_failed")
    assert [one.params["status"] for one in found] == ["killed", "crashed"]
    assert (found[0].params["error_type"], found[0].params["count"]) == ("SIGKILL", 1)
    assert found[1].params == {
        "status": "crashed",
        "count": 2,
        "error_type": "TypeError",
        "error_text": "last",
        "where": "a.py:1",
    }
    assert {one.severity for one in found} == {Severity.WARNING}


@pytest.mark.parametrize("applied", [True, None])
def test_a_lever_that_worked_or_cannot_be_seen_is_not_told(applied: bool | None) -> None:
    lever = LeverOutcome(name="dtype", asked="bf16", applied=applied)
    assert said(judge_cell(cell(process(), records=[record(levers=[lever])]), 0.95), "lever_not_applied") == []


def test_a_lever_that_failed_in_every_process_is_told_once() -> None:
    lever = LeverOutcome(name="dtype", asked="bf16", observed="fp32", applied=False)
    found = judge_cell(cell(process(), records=[record(levers=[lever])] * 3), 0.95)
    assert len(said(found, "lever_not_applied")) == 1


def test_a_cell_without_a_number_is_described_by_its_failures_alone() -> None:
    found = judge_cell(cell(records=[record(Status.HUNG)]), 0.95)
    assert [finding.code for finding in found] == ["trial_failed"]


@pytest.mark.parametrize(
    ("device", "error", "part", "reason"),
    [
        ("cpu", "", "pytorch", "not_installed"),
        ("cuda:0", "ModuleNotFoundError", "pytorch", "not_installed"),
        ("cuda:0", "ImportError", "pytorch", "not_installed"),
        ("cuda:0", "DeviceError", "cuda:0", "no_device"),
        ("cuda:0", None, "cuda:0", "no_device"),
    ],
)
def test_what_is_missing_is_the_framework_or_the_device(device: str, error: str | None, part: str, reason: str) -> None:
    spec = msgspec.structs.replace(SPEC, device=device)
    gone = [record(spec=spec, outcome=Outcome(status=Status.MISSING, error_type=error))] * 2
    found = judge_whole(study(), [cell(records=gone, spec=spec)], [], None)
    assert params(found, "missing_part") == {"part": part, "reason": reason}


@pytest.mark.parametrize(
    ("devices", "accelerators", "told"),
    [(["cpu"], [], True), (["cpu"], [{"name": "GPU"}], False), (["cpu", "cuda:0"], [], False), (["cuda:0"], [], False)],
)
def test_one_device_is_told_where_there_is_no_other(devices: list[str], accelerators: list[Any], told: bool) -> None:
    cells = [cell(process(), spec=msgspec.structs.replace(SPEC, device=device)) for device in devices]
    found = judge_whole(study(), cells, [], Environment(facts={"accelerators": accelerators}))
    assert bool(said(found, "one_device")) == told


@pytest.mark.parametrize(("source", "told"), [("stand-in", True), ("cifar10-binary", False), (None, False)])
def test_made_up_data_is_told_once(source: str | None, told: bool) -> None:
    records = [record(data={"source": source, "items": 7})] * 2
    found = said(judge_whole(study(), [cell(process(), records=records)] * 2, [], None), "stand_in_data")
    assert [finding.params for finding in found] == ([{"items": 7}] if told else [])


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"within": 0.001}, "budget_reached"),
        ({"within": 0.001, "stopped": "budget"}, "budget_reached"),
        ({"within": 0.001, "stopped": "interrupted"}, None),  # Ctrl-C is no budget
        ({"within": 0.001, "stopped": "nothing_left"}, None),
        ({"within": 0.9, "stopped": "within"}, None),
        ({"rounds": 5, "stopped": "budget"}, "budget_ended"),
        ({"rounds": 3, "stopped": "budget"}, None),
        ({"rounds": 5, "stopped": "interrupted"}, None),
        ({"stopped": "budget"}, None),
        ({}, None),
    ],
)
def test_a_budget_is_told_when_it_cut_something_short(options: dict[str, Any], code: str | None) -> None:
    cells = [cell(process(0), process(1, 1.05), process(2, 0.97))]
    found = judge_whole(study(options=options), cells, [], None)
    assert [one.code for one in found if one.code.startswith("budget")] == ([code] if code else [])


def ratio(code: str, low: float | None, high: float | None) -> Finding:
    return Finding(code=code, params={"speedup": 2.0, "low": low, "high": high})


def test_the_widest_interval_is_that_of_the_ratios_else_of_the_cells() -> None:
    cells = [cell(process(0), process(1, 1.1)), cell(process(0), process(1, 1.01))]
    ratios = [ratio("ratio", 1.9, 2.1), ratio("ratio_forced", 1.6, 2.4), Finding(code="ratio_refused")]
    assert widest(cells, ratios) == pytest.approx(0.2)
    assert widest(cells, [*ratios, ratio("ratio", None, None)]) is None
    alone = widest(cells, [Finding(code="ratio_refused")])
    assert alone == widest(cells[:1], [])
    assert alone > widest(cells[1:], [])
    assert widest([cell(process())], []) is None
    assert widest([], []) is None


def selftest(*levels_s: float, planted: tuple[float, ...], sick: tuple[int, ...] = ()) -> list[Finding]:
    """Findings of a self-test; each cell's processes differ by 1 % in the same rounds."""
    cells = []
    for at, (level_s, ratio_planted) in enumerate(zip(levels_s, planted, strict=True)):
        used = [process(number, level_s * factor) for number, factor in enumerate((1.0, 1.01, 0.99, 1.005 + at / 1000))]
        spec = msgspec.structs.replace(SPEC, seed=at, planted_slowdown_ratio=ratio_planted)
        health = [Finding(code="steal", severity=Severity.UNHEALTHY)] if at in sick else []
        cells.append(cell(*used, spec=spec, label=f"c{at}", health=health))
    return examine_selftest(study(), cells, 0.95)


def test_a_planted_difference_is_measured_as_a_slow_down() -> None:
    found = selftest(1.0, 1.0, 1.5, planted=(1.0, 1.0, 1.5))
    assert [finding.code for finding in found] == ["aa", "planted_seen", "smallest_difference"]
    assert found[1].params["measured"] == pytest.approx(1.5, rel=0.01)
    assert found[1].params["covered"]
    assert found[2].params["ratio"] == pytest.approx((found[0].params["high"] / found[0].params["low"]) ** 0.5)


def test_a_difference_that_was_not_planted_is_not_covered() -> None:
    found = selftest(1.0, 1.3, 1.3, planted=(1.0, 1.0, 1.1))
    assert [finding.params["covered"] for finding in found[:2]] == [False, False]


def test_the_widest_of_several_controls_is_the_smallest_difference() -> None:
    found = selftest(1.0, 1.0, 1.0, planted=(1.0, 1.0, 1.0))
    widths = [(one.params["high"] / one.params["low"]) ** 0.5 for one in found if one.code == "aa"]
    assert len(widths) == 2
    assert params(found, "smallest_difference")["ratio"] == pytest.approx(max(widths))


def test_a_disturbed_control_says_nothing_and_a_disturbed_baseline_even_less() -> None:
    found = selftest(1.0, 1.0, 1.5, planted=(1.0, 1.0, 1.5), sick=(1,))
    assert [finding.code for finding in found] == ["planted_seen"]
    assert selftest(1.0, 1.0, planted=(1.0, 1.0), sick=(0,)) == []
    assert examine_selftest(study(), [], 0.95) == []


def test_one_round_shows_no_smallest_difference() -> None:
    cells = [cell(process(), label="A"), cell(process(), label="B")]
    assert examine_selftest(study(), cells, 0.95) == []
