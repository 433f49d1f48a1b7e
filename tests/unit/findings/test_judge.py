"""From trials to findings: comparisons, refusals, cells, the study as a whole, the verdict."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from sick_trials import healthy, steps_s

from pacenote import findings
from pacenote.findings import CODES, judge, reached_width
from pacenote.findings.comparison import pairs
from pacenote.records import (
    Cell,
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
from pacenote.stats import summarize

BUSY = {"other_cpu_s": 0.2}


def spec(framework: str = "pytorch", batch: int = 32, **levers: Any) -> TrialSpec:
    return TrialSpec(workload="lenet", framework=framework, levers={"batch_size": batch, "threads": 4, **levers})


def cell(label: str, asked: TrialSpec) -> Cell:
    return Cell(label=label, spec=asked)


def study(*cells: Cell, axes: tuple[str, ...] = ("framework",), **changes: Any) -> Study:
    fields: dict[str, Any] = {"id": "s", "question": "run", "created_unix_s": 0.0, "baseline": cells[0].label}
    return Study(**{**fields, "cells": list(cells), "axes": list(axes), **changes})


def trials(asked: TrialSpec, level_s: float, rounds: int = 5, sick: tuple[int, ...] = (), **changes: Any) -> list:
    """Trials of one cell; rounds in ``sick`` ran beside a busy neighbour. Processes differ by 1 %."""
    made = []
    for number in range(rounds):
        steps = steps_s(level_s=level_s * (1.0 + 0.01 * ((number * 7) % 3 - 1)), seed=number + round(level_s * 1e6))
        own = {"counters": BUSY, **changes} if number in sick else changes
        made.append(
            healthy(
                spec=asked, steps=steps, round=number, id=f"{asked.hash()}-{number}", **{"samples_per_step": 32, **own}
            )
        )
    return made


def judged(asked: Study, *groups: list[TrialRecord], environment: Environment | None = None) -> list[Finding]:
    records = [record for group in groups for record in group]
    found = judge(asked, records, [summarize(record) for record in records], environment)
    for finding in found:
        assert set(CODES[finding.code]) <= set(finding.params), finding
    msgspec.json.encode(found)
    return found


def only(found: list[Finding], code: str) -> Finding:
    (finding,) = [finding for finding in found if finding.code == code]
    return finding


def codes(found: list[Finding]) -> set[str]:
    return {finding.code for finding in found}


TORCH, PADDLE = spec(), spec("paddle")
TWO = study(cell("pytorch", TORCH), cell("paddle", PADDLE))


def test_a_healthy_comparison_prints_a_ratio_with_its_interval() -> None:
    found = judged(TWO, trials(TORCH, 5e-3), trials(PADDLE, 10e-3))
    ratio = only(found, "ratio")
    assert ratio.subject == "paddle/pytorch"
    assert ratio.params["speedup"] == pytest.approx(0.5, rel=0.03)
    assert ratio.params["low"] < 0.5 < ratio.params["high"]
    assert ratio.params["distinct"]
    assert ratio.params["paired"]
    assert ratio.params["rounds"] == 5
    verdict = only(found, "verdict_fastest")
    assert (verdict.params["cell"], verdict.params["baseline"]) == ("pytorch", "paddle")
    assert verdict.params["speedup"] == pytest.approx(2.0, rel=0.03)
    assert only(found, "verdict_why").params["phase"] == "backward"
    assert "verdict_do" not in codes(found)
    assert not [finding for finding in found if finding.severity is Severity.UNHEALTHY]


@pytest.mark.parametrize(("sick_side", "side"), [(0, "baseline"), (1, "cell")])
def test_no_ratio_is_printed_from_a_sick_side(sick_side: int, side: str) -> None:
    every = tuple(range(5))
    groups = [
        trials(TORCH, 5e-3, sick=every if sick_side == 0 else ()),
        trials(PADDLE, 10e-3, sick=every if sick_side == 1 else ()),
    ]
    found = judged(TWO, *groups)
    refused = only(found, "ratio_refused")
    assert (refused.params["side"], refused.params["reasons"]) == (side, ["other_load"])
    assert not codes(found) & {"ratio", "ratio_forced", "verdict_fastest", "fastest"}
    assert only(found, "verdict_refused").params["reasons"] == ["other_load"]
    remedy = only(found, "verdict_do")
    assert remedy.params["finding"] == "other_load"
    assert remedy.params["other_cpus"] == pytest.approx(0.8)
    sick = only(found, "other_load")
    assert sick.subject == ("pytorch", "paddle")[sick_side]
    assert (sick.params["trials"], sick.params["of_trials"]) == (5, 5)


def test_force_prints_the_ratio_marked_with_its_reasons() -> None:
    forced = msgspec.structs.replace(TWO, options={"force": True})
    found = judged(forced, trials(TORCH, 5e-3, sick=(0, 1, 2, 3, 4)), trials(PADDLE, 10e-3))
    ratio = only(found, "ratio_forced")
    assert ratio.params["reasons"] == ["other_load"]
    assert ratio.params["speedup"] == pytest.approx(0.5, rel=0.05)
    assert "ratio" not in codes(found)


def test_a_disturbed_round_is_left_out_while_enough_remain() -> None:
    found = judged(TWO, trials(TORCH, 5e-3, sick=(1,)), trials(PADDLE, 10e-3))
    assert only(found, "ratio").params["rounds"] == 4
    left_out = only(found, "rounds_left_out")
    assert left_out.params == {"count": 1, "of_trials": 5, "reasons": ["other_load"]}
    assert "other_load" not in codes(found)


@pytest.mark.parametrize(("rounds", "sick"), [(3, (1,)), (5, (0, 1, 2)), (2, (0,))])
def test_too_few_undisturbed_rounds_refuse(rounds: int, sick: tuple[int, ...]) -> None:
    found = judged(TWO, trials(TORCH, 5e-3, rounds, sick), trials(PADDLE, 10e-3, rounds))
    assert "ratio_refused" in codes(found)


def test_the_cause_stands_before_its_symptoms() -> None:
    starved = trials(TORCH, 5e-3, counters={**BUSY, "child_cpu_s": 0.1})
    found = judged(TWO, starved, trials(PADDLE, 10e-3))
    assert only(found, "ratio_refused").params["reasons"] == ["other_load", "cpu_starved"]
    assert only(found, "verdict_do").params["finding"] == "other_load"


def test_what_does_not_come_and_go_is_never_left_out() -> None:
    once = trials(TORCH, 5e-3)
    once[2] = msgspec.structs.replace(once[2], framework={"debug_flags": {"anomaly_mode": True}})
    found = judged(TWO, once, trials(PADDLE, 10e-3))
    assert only(found, "ratio_refused").params["reasons"] == ["debug_mode"]


def test_one_round_gives_a_value_without_an_interval() -> None:
    found = judged(TWO, trials(TORCH, 5e-3, 1), trials(PADDLE, 10e-3, 1))
    ratio = only(found, "ratio").params
    assert (ratio["low"], ratio["high"], ratio["distinct"], ratio["reason"]) == (None, None, False, "one_round")


def test_equal_cells_have_no_winner() -> None:
    twin = spec(seedless=1)
    found = judged(
        study(cell("A", TORCH), cell("B", twin), axes=("seedless",)), trials(TORCH, 5e-3), trials(twin, 5e-3)
    )
    assert only(found, "verdict_no_difference").params == {"count": 2}
    assert not only(found, "ratio").params["distinct"]


def test_every_axis_is_compared_with_the_others_fixed() -> None:
    cells = [cell(f"{f} b{b}", spec(f, b)) for f in ("pytorch", "paddle") for b in (32, 256)]
    assert pairs(cells, ["framework", "batch_size"]) == [
        ("framework", "pytorch b32", "paddle b32"),
        ("framework", "pytorch b256", "paddle b256"),
        ("batch_size", "pytorch b32", "pytorch b256"),
        ("batch_size", "paddle b32", "paddle b256"),
    ]
    assert pairs(cells[:1] + cells[3:], ["framework", "batch_size"]) == []
    assert pairs(cells[:3], []) == [("", "pytorch b32", "pytorch b256"), ("", "pytorch b32", "paddle b32")]


def test_batches_are_compared_per_sample() -> None:
    small, large = spec(batch=32), spec(batch=256)
    asked = study(cell("b32", small), cell("b256", large), axes=("batch_size",))
    found = judged(asked, trials(small, 5e-3), trials(large, 20e-3, samples_per_step=256))
    assert only(found, "ratio").params["speedup"] == pytest.approx(2.0, rel=0.03)


def test_a_lever_without_effect_is_told_and_its_ratio_refused() -> None:
    plain, half = spec(dtype="fp32"), spec(dtype="bf16")
    ignored = LeverOutcome(name="dtype", asked="bf16", observed="fp32", applied=False, reason="no_effect_on_cpu")
    asked = study(cell("fp32", plain), cell("bf16", half), axes=("dtype",))
    without = [msgspec.structs.replace(one, levers=[ignored]) for one in trials(half, 5e-3)]
    found = judged(asked, trials(plain, 5e-3), without)
    told = only(found, "lever_not_applied")
    assert told.subject == "bf16"
    assert told.params == {"lever": "dtype", "asked": "bf16", "observed": "fp32", "reason": "no_effect_on_cpu"}
    assert only(found, "ratio_refused").params["reasons"] == ["lever_not_applied"]


def test_a_cell_without_a_finished_trial_is_told_and_refused() -> None:
    died = Outcome(status=Status.OUT_OF_MEMORY, error_type="MemoryError", error_text="no room", where="train.py:3")
    gone = [msgspec.structs.replace(one, outcome=died, turns=[]) for one in trials(PADDLE, 1e-2, 2)]
    found = judged(TWO, trials(TORCH, 5e-3), gone)
    assert only(found, "trial_failed").params == {
        "status": "out_of_memory",
        "count": 2,
        "error_type": "MemoryError",
        "error_text": "no room",
        "where": "train.py:3",
    }
    assert only(found, "ratio_refused").params["reasons"] == ["trial_failed"]
    assert {finding.subject for finding in found if finding.code == "cell_time"} == {"pytorch"}


def test_a_single_cell_has_a_verdict_without_a_comparison() -> None:
    found = judged(study(cell("pytorch", TORCH), axes=()), trials(TORCH, 5e-3))
    verdict = only(found, "verdict_single").params
    assert verdict["samples_per_s"] == pytest.approx(6400, rel=0.03)
    assert not codes(found) & {"ratio", "ratio_refused", "fastest"}


def test_nothing_measured_gives_no_verdict() -> None:
    found = judged(TWO, [], [])
    assert not {code for code in codes(found) if code.startswith("verdict")}
    assert only(found, "ratio_refused").params["side"] == "both"


def test_a_cell_is_described() -> None:
    known = {
        "flop_per_sample": Reading(value=3.2e6, method="counted"),
        "ceiling_flops": Reading(value=4.6e10, method="measured"),
    }
    found = judged(study(cell("pytorch", TORCH), axes=()), trials(TORCH, 5e-3, **known))
    time = only(found, "cell_time").params
    assert time["step_time_s"] == pytest.approx(5e-3, rel=0.03)
    assert time["low"] < time["step_time_s"] < time["high"]
    assert time["rounds"] == 5
    assert time["steps"] == 5 * 6 * 47
    shares = only(found, "phases").params
    assert sum(shares.values()) == pytest.approx(1.0)
    assert only(found, "dominant_phase").params == {"phase": "backward", "share": shares["backward"]}
    flops = only(found, "flops").params
    assert flops["achieved_flops"] == pytest.approx(3.2e6 * 6400, rel=0.03)
    assert flops["mfu_share"] == pytest.approx(flops["achieved_flops"] / 4.6e10)
    assert only(found, "cold_start").params["steady_step_s"] == time["step_time_s"]
    assert "unattributed_high" not in codes(found)


def test_unknown_flop_are_unknown_with_a_reason() -> None:
    unknown = {"flop_per_sample": Reading(reason="no_formula"), "ceiling_flops": Reading(value=1e10, method="measured")}
    flops = only(judged(study(cell("a", TORCH), axes=()), trials(TORCH, 5e-3, **unknown)), "flops").params
    assert flops == {"achieved_flops": None, "ceiling_flops": 1e10, "mfu_share": None, "reason": "no_formula"}


def test_the_study_as_a_whole() -> None:
    missing = Outcome(status=Status.MISSING, error_type="ModuleNotFoundError", error_text="no paddle")
    gone = [msgspec.structs.replace(one, outcome=missing, turns=[]) for one in trials(PADDLE, 1e-2, 1)]
    made_up = {"data": {"source": "stand-in", "items": 50_000}}
    absent = [
        {"framework": "pytorch", "device": "cuda", "reason": "no_driver"},
        {"framework": "pytorch", "device": "xpu", "reason": "build_without_device"},  # nothing that anyone misses
    ]
    options = {"within": 0.0001, "absent": absent}
    asked = msgspec.structs.replace(TWO, options=options)
    found = judged(asked, trials(TORCH, 5e-3, **made_up), gone, environment=Environment(facts={"accelerators": []}))
    parts = [finding.params for finding in found if finding.code == "missing_part"]
    assert parts == [{"part": "cuda", "reason": "no_driver"}, {"part": "paddle", "reason": "not_installed"}]
    assert only(found, "stand_in_data").params == {"items": 50_000}
    assert only(found, "one_device").params == {"device": "cpu"}
    reached = only(found, "budget_reached").params
    assert reached["target_width"] == 0.0001
    assert reached["reached_width"] > 0.0001


def test_a_second_device_that_was_not_chosen_is_still_there() -> None:
    there = Environment(facts={"accelerators": [{"name": "GPU"}]})
    assert "one_device" not in codes(judged(TWO, trials(TORCH, 5e-3), trials(PADDLE, 5e-3), environment=there))


def test_rounds_that_the_budget_did_not_allow_are_told() -> None:
    short = msgspec.structs.replace(TWO, options={"rounds": 5, "stopped": "budget"})
    found = judged(short, trials(TORCH, 5e-3, 3), trials(PADDLE, 9e-3, 3))
    assert only(found, "budget_ended").params["wanted_rounds"] == 5


def test_the_reached_width_is_that_of_the_widest_ratio() -> None:
    records = [*trials(TORCH, 5e-3), *trials(PADDLE, 9e-3)]
    summaries = {record.id: summarize(record) for record in records}
    ratio = only(judge(TWO, records, summaries), "ratio").params
    width = (ratio["high"] - ratio["low"]) / 2 / ratio["speedup"]
    assert reached_width(TWO, records, summaries) == pytest.approx(width)
    assert reached_width(TWO, records[:1], summaries) is None


def test_time_in_no_phase_is_told_unless_it_was_planted() -> None:
    asked = study(cell("a", TORCH), axes=())
    loose = trials(TORCH, 5e-3, 3)
    summaries = [summarize(record) for record in loose]
    moved = [
        msgspec.structs.replace(
            one, phase_s={**one.phase_s, "other": one.phase_s["backward"], "backward": one.phase_s["other"]}
        )
        for one in summaries
    ]
    assert only(judge(asked, loose, moved), "unattributed_high").params["share"] > 0.4
    slowed = msgspec.structs.replace(TORCH, planted_slowdown_ratio=1.1)
    again = [msgspec.structs.replace(one, spec=slowed, spec_hash=slowed.hash()) for one in loose]
    assert "unattributed_high" not in codes(judge(study(cell("a", slowed), axes=()), again, moved))


def test_two_separate_runs_are_not_paired() -> None:
    asked = msgspec.structs.replace(TWO, question="compare")
    assert not only(judged(asked, trials(TORCH, 5e-3), trials(PADDLE, 9e-3)), "ratio").params["paired"]


def test_a_self_test_is_judged() -> None:
    twin, slow = spec(twin=1), msgspec.structs.replace(TORCH, planted_slowdown_ratio=1.10)
    asked = study(cell("A", TORCH), cell("A2", twin), cell("A×1.10", slow), question="selftest", axes=())
    found = judged(asked, trials(TORCH, 5e-3), trials(twin, 5.003e-3), trials(slow, 5.5e-3))
    again = only(found, "aa").params
    assert again["covered"]
    assert again["low"] < 1.0 < again["high"]
    planted = only(found, "planted_seen").params
    assert planted["planted"] == pytest.approx(1.10)
    assert planted["measured"] == pytest.approx(1.10, rel=0.02)
    assert planted["covered"]
    assert 1.0 < only(found, "smallest_difference").params["ratio"] < 1.1
    assert not {code for code in codes(found) if code.startswith("verdict")}


def test_a_disturbed_self_test_finds_nothing() -> None:
    twin = spec(twin=1)
    asked = study(cell("A", TORCH), cell("A2", twin), question="selftest", axes=())
    found = judged(asked, trials(TORCH, 5e-3, sick=(0, 1, 2, 3, 4)), trials(twin, 5e-3))
    assert not codes(found) & {"aa", "smallest_difference"}
    assert "other_load" in codes(found)


def test_the_rules_have_a_version() -> None:
    assert findings.RULES_VERSION >= 1
