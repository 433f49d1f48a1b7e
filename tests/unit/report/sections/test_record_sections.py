"""Self-test, every step, environment, method, raw data and limits: the sections that tell how it was done."""

from __future__ import annotations

from typing import Any

import pytest
from fixtures.views import cell, ratio, sick, study, trial, warned

from pacenote.records import Finding, Status
from pacenote.report import raw as raw_data
from pacenote.report.blocks import Chart, Download, Facts, Lines, Section, Table
from pacenote.report.content import chart_data
from pacenote.report.model import StudyView
from pacenote.report.sections import environment, method, raw, selftest, spread, verdict
from pacenote.report.words import speak, tidy


def made(part: Any, view: StudyView) -> Section:
    section = part.build(view)
    assert isinstance(section, Section)
    return section


def told(section: Section, lang: str = "en") -> list[str]:
    return [speak(lang, line.text) for block in section.blocks if isinstance(block, Lines) for line in block.lines]


def figures(section: Section) -> list[list[str]]:
    """The rows of the section's table as they are read."""
    clean = tidy(next(block for block in section.blocks if isinstance(block, Table)))
    return [
        [speak("en", one.text) if one.text else f"{one.number} {one.suffix}".strip() for one in row]
        for row in clean.rows
    ]


# Self-test.


def aa(**changes: Any) -> Finding:
    return Finding(code="aa", subject="again", params={"low": 0.98, "high": 1.02, "covered": True, **changes})


def planted(ratio: float, measured: float, covered: bool = True) -> Finding:
    ends = {"low": measured / 1.01, "high": measured * 1.01, "covered": covered}
    return Finding(
        code="planted_seen", subject=f"slower {ratio}", params={"planted": ratio, "measured": measured, **ends}
    )


def test_study_without_a_selftest_has_no_such_section() -> None:
    assert selftest.build(study(cell(), findings=[ratio()])) is None


def test_same_thing_twice_is_planted_as_nothing() -> None:
    section = made(selftest, study(findings=[aa()]))
    assert figures(section) == [["again", "0.0 %", "\u22120.0 %", "\u22122.0 – 2.0 %", "as planted"]]


def test_planted_slowdown_stands_beside_what_was_measured() -> None:
    section = made(selftest, study(findings=[planted(1.10, 1.104), planted(1.03, 1.061, covered=False)]))
    assert [row[1:3] + row[4:] for row in figures(section)] == [
        ["10.0 %", "10.4 %", "as planted"],
        ["3.0 %", "6.1 %", "not as planted"],
    ]


def test_chart_draws_what_was_planted_in_colour_and_the_rest_in_grey() -> None:
    section = made(selftest, study(findings=[aa(), planted(1.10, 1.104)]))
    drawn = next(block for block in section.blocks if isinstance(block, Chart))
    assert drawn.series[0].muted == [True, False]
    assert drawn.reference == 1.0
    assert chart_data(drawn)["series"][0]["values"] == [pytest.approx(0.9998, abs=1e-4), 1.104]


# Every step.


def test_processes_that_gave_no_step_are_listed_without_a_chart() -> None:
    failed = trial("a", steps_ns=[], status=Status.HUNG, step_time_s=None, spread_share=None)
    section = made(spread, study(cell("a", None), trials=[failed]))
    assert [block.name for block in section.blocks] == ["processes"]
    assert figures(section)[0][-2:] == ["hung", "a-0"]


def test_study_without_processes_has_no_steps() -> None:
    assert spread.build(study(cell())) is None


def test_error_of_a_process_is_told_in_its_row() -> None:
    failed = trial("a", status=Status.CRASHED, error_type="ValueError", error_text="no <b>data</b>")
    assert "crashed: ValueError: no <b>data</b>" in figures(made(spread, study(cell("a"), trials=[failed])))[0]


@pytest.mark.parametrize(
    ("error_type", "error_text", "expected"),
    [("ValueError", None, "crashed: ValueError"), (None, "gone", "crashed: gone"), (None, None, "crashed")],
)
def test_half_known_error_is_told_as_far_as_it_is_known(
    error_type: str | None, error_text: str | None, expected: str
) -> None:
    failed = trial("a", status=Status.CRASHED, error_type=error_type, error_text=error_text)
    assert expected in figures(made(spread, study(cell("a"), trials=[failed])))[0]


def test_rounds_are_counted_from_one() -> None:
    rows = figures(made(spread, study(cell("a"), trials=[trial("a", 0), trial("a", 1)])))
    assert [row[1] for row in rows] == ["1", "2"]


def test_warm_up_and_the_first_turn_are_pale() -> None:
    shown = trial("a", steps_ns=[1, 2, 3, 4], turn=[0, 1, 1, 1], dropped_steps=2)
    section = made(spread, study(cell("a"), trials=[shown]))
    drawn = next(block for block in section.blocks if isinstance(block, Chart))
    assert drawn.series[0].muted == [True, True, False, False]
    assert drawn.series[0].points == [(0.0, 1e-9), (1.0, 2e-9), (2.0, 3e-9), (3.0, 4e-9)]


def test_processes_of_one_condition_share_a_colour() -> None:
    trials = [trial("a", 0), trial("b", 0), trial("a", 1)]
    section = made(spread, study(cell("a"), cell("b"), trials=trials))
    drawn = next(block for block in section.blocks if isinstance(block, Chart))
    assert [series.group for series in drawn.series] == [0, 1, 0]


@pytest.mark.parametrize(("slow_ns", "wide"), [(20_000_000, False), (900_000_000, True)])
def test_axis_is_logarithmic_only_for_steps_far_apart(slow_ns: int, wide: bool) -> None:
    section = made(spread, study(cell("a"), trials=[trial("a", steps_ns=[10_000_000, slow_ns])]))
    drawn = next(block for block in section.blocks if isinstance(block, Chart))
    assert chart_data(drawn)["wide"] is wide


# Environment.


def facts(environment_facts: dict[str, Any], lang: str = "en", **cells: Any) -> dict[str, str]:
    section = made(environment, study(cell(**cells), environment=environment_facts))
    (block,) = section.blocks
    assert isinstance(block, Facts)
    return {speak(lang, name): speak(lang, value) for name, value in block.facts}


def test_nothing_known_of_the_machine_is_no_section() -> None:
    assert environment.build(study(cell())) is None


@pytest.mark.parametrize(
    ("name", "value", "title", "expected"),
    [
        ("memory_total_bytes", 8 * 2**30, "Memory", "8.00 GiB"),
        ("memory_limit_bytes", None, "Memory limit", "–"),
        ("quota_cpus", 1.5, "CPU quota", "1.5"),
        ("physical_cores", 2, "Physical cores", "2"),
        ("cpu_clock_max_hz", 3.2e9, "Highest clock", "3.20 GHz"),
        ("virtual", True, "Virtual machine", "yes"),
        ("virtual", False, "Virtual machine", "no"),
        ("accelerators", [], "Accelerators", "none"),
        ("accelerators_reason", "no_nvidia_driver", "Why none", "no NVIDIA driver"),
        ("accelerators_reason", "", "Why none", "–"),
        ("cpu_flags", ["avx2", "amx"], "Instruction sets", "avx2, amx"),
        ("of_a_plugin", "x", "of_a_plugin", "x"),
        ("variables", {"OMP_NUM_THREADS": "2"}, "OMP_NUM_THREADS", "2"),
        ("framework", {"build": {"mkl": "2024.2"}}, "framework.build.mkl", "2024.2"),
        ("framework", {"build": {}}, "framework.build", "none"),
    ],
)
def test_a_fact_has_words_and_a_unit(name: str, value: Any, title: str, expected: str) -> None:
    assert facts({name: value}) == {title: expected}


def test_accelerators_are_told_in_words_and_not_in_brackets() -> None:
    gpu = {
        "index": 0,
        "name": "GPU 9",
        "memory_total_bytes": 80 * 2**30,
        "driver_version": "550.54",
        "clock_max_hz": None,
    }
    assert facts({"accelerators": [gpu, {**gpu, "index": 1}]}) == {
        "Accelerators": "GPU 9, 80.0 GiB, 550.54; GPU 9, 80.0 GiB, 550.54"
    }


def test_facts_of_each_framework_stand_under_its_name_once() -> None:
    cells = [
        cell(label, framework=name, framework_facts={"name": name, "version": version})
        for label, name, version in (("a", "pytorch", "2.13"), ("b", "paddle", "3.3"), ("c", "pytorch", "2.13"))
    ]
    section = made(environment, study(*cells, environment={"os": "Linux", "framework": {"version": "hidden"}}))
    (block,) = section.blocks
    assert isinstance(block, Facts)
    assert {speak("en", name): speak("en", value) for name, value in block.facts} == {
        "Operating system": "Linux",
        "pytorch.version": "2.13",
        "paddle.version": "3.3",
    }


def test_facts_are_told_in_chinese_too() -> None:
    assert facts({"virtual": True, "accelerators": []}, "zh") == {"虚拟机": "是", "加速器": "无"}


# Method.


def test_method_tells_the_numbers_of_this_study() -> None:
    view = study(cell(rounds=3), cell("b", rounds=5), findings=[ratio(level=0.9)], command=["pacenote", "run", "a b"])
    text = told(made(method, view))
    assert text[0].startswith("Fresh processes per condition: 5.")
    assert "90 % t-intervals" in text[1]
    assert text[-2] == "Made by Pacenote 0.1.0, rules 1, study 0190a1b2."
    assert text[-1] == "Command: pacenote run 'a b'"


def test_method_of_a_study_without_ratio_or_command() -> None:
    text = told(made(method, study()))
    assert "95 % t-intervals" in text[1]
    assert not any(line.startswith("Command") for line in text)


# Raw data.


def test_downloads_are_named_after_the_study() -> None:
    section = made(raw, study(cell(), trials=[trial()]))
    assert [block.filename for block in section.blocks if isinstance(block, Download)] == [
        "pacenote-0190a1b2.json",
        "pacenote-0190a1b2-steps.csv",
    ]
    assert told(section) == []


def test_page_that_cannot_carry_all_steps_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_data, "MOST_STEPS", 5)
    section = made(raw, study(cell(), trials=[trial(number=0), trial(number=1)]))
    assert told(section) == [
        "This study has 6 steps; the page carries 3 of them. `pacenote show --json` gives all.",
    ]


# Limits.


def limits(*findings: Finding, **changes: Any) -> list[tuple[str | None, str, str]]:
    section = verdict.build(study(cell("a"), findings=list(findings), **changes))
    if section is None:
        return []
    (block,) = section.blocks
    assert isinstance(block, Lines)
    return [
        (speak("en", line.subject) if line.subject else None, speak("en", line.text), line.tone) for line in block.lines
    ]


def test_unlimited_study_has_no_limits() -> None:
    assert limits() == []
    assert limits(sick("steal", "a"), ratio(), Finding(code="fastest", params={})) == []


def test_interrupted_study_says_so_first() -> None:
    assert limits(warned("one_device", device="cpu"), finished=False)[0][1].startswith("This study was interrupted")


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (
            warned("budget_ended", rounds=2, wanted_rounds=5, reached_width=0.034),
            "The time budget ended after 2 of 5 rounds; intervals reach ±3.4 %.",
        ),
        (
            warned("budget_ended", rounds=1, wanted_rounds=5, reached_width=None),
            "The time budget ended after 1 of 5 rounds, too few for an interval.",
        ),
        (
            warned("budget_reached", rounds=4, target_width=0.02, reached_width=0.031),
            "The time budget ended after 4 rounds with intervals of ±3.1 %; ±2.0 % was asked for.",
        ),
        (
            warned("missing_part", part="paddle", reason="not_installed"),
            "PaddlePaddle is missing here: not installed.",
        ),
        (
            warned("runs_differ", facts=["cpu_model", "quota_cpus"]),
            "The runs differ in more than what is compared: Processor, CPU quota.",
        ),
        (warned("of_a_plugin", wait_s=0.5), "of_a_plugin: wait_s=500 ms"),
    ],
)
def test_a_limit_is_told_with_its_figures(finding: Finding, expected: str) -> None:
    assert limits(finding) == [(None, expected, "warn")]


@pytest.mark.parametrize(
    ("reason", "told_as"),
    [
        ("autocast_no_effect", "the framework's autocast has no effect here"),
        ("allocator_replaced", "another allocator is in place of the C library's"),
        ("no_effect", "the setting had no effect"),
        ("not_observable", "cannot be observed"),
    ],
)
def test_lever_without_effect_is_told_with_its_reason(reason: str, told_as: str) -> None:
    finding = warned("lever_not_applied", "a", lever="dtype", asked="bf16", observed="fp32", reason=reason)
    assert limits(finding) == [("a", f"Data type bf16 was asked for but fp32 was seen: {told_as}.", "warn")]


def test_mere_information_is_muted() -> None:
    assert limits(Finding(code="stand_in_data", params={"items": 50000}))[0][2] == "muted"
