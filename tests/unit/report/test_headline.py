"""The two sentences and the figures in large type."""

from __future__ import annotations

from typing import Any

import pytest
from fixtures.views import cell, known, ratio, sick, study, warned

from pacenote.findings.codes import CODES, HEALTH
from pacenote.records import Finding
from pacenote.report import content, locale, text
from pacenote.report.headline import KeyFigure, fastest, is_notice, key_figures, machine, sentences
from pacenote.report.model import Estimate, StudyView
from pacenote.report.words import speak

FASTEST = Finding(
    code="verdict_fastest",
    subject="b",
    params={"cell": "b", "samples_per_s": 6400.0, "baseline": "a", "speedup": 2.0, "low": 1.9, "high": 2.1},
)


def titles(view: StudyView) -> list[str]:
    return [speak("en", figure.title) for figure in key_figures(view)]


def figure(view: StudyView, title: str) -> KeyFigure:
    return next(one for one in key_figures(view) if speak("en", one.title) == title)


# Sentences.


def test_no_more_than_two_sentences_whatever_was_found() -> None:
    found = [
        FASTEST,
        Finding(code="verdict_why", params={"cell": "b", "phase": "forward", "share": 0.4}),
        Finding(code="verdict_do", params={"cell": "a", "finding": "steal"}),
        Finding(code="verdict_no_difference", params={"count": 2}),
    ]
    assert [one.key for one in sentences(study(cell(), findings=found))] == [
        "finding.verdict_fastest",
        "finding.verdict_why",
    ]


def test_study_with_figures_but_without_verdict_was_not_judged() -> None:
    assert text.verdict(study(cell()), "en") == "The study has not been judged yet."
    assert text.verdict(study(cell("a", None)), "en") == "Nothing could be measured."


def test_remedy_can_stand_without_a_verdict() -> None:
    view = study(
        cell("a", None),
        findings=[Finding(code="verdict_do", params={"cell": "a", "finding": "threads_over_cores", "cores": 4})],
    )
    assert text.verdict(view, "en") == "Nothing could be measured. For a: Use --threads 4."


@pytest.mark.parametrize("lang", locale.LANGUAGES)
@pytest.mark.parametrize("code", sorted(HEALTH))
def test_remedy_never_shows_a_code_and_never_an_unknown(code: str, lang: str) -> None:
    params = {"cell": "a", "finding": code, **{name: 2.0 for name in HEALTH[code]}}
    spoken = locale.text(lang, "finding.verdict_do", **params)
    assert code not in spoken
    assert locale.template(lang, "unknown") not in spoken
    assert spoken.endswith(locale.text(lang, f"fix.{code}", **params))


@pytest.mark.parametrize("lang", locale.LANGUAGES)
@pytest.mark.parametrize("code", ["trial_failed", "of_a_plugin"])
def test_remedy_for_what_has_no_advice_names_it_in_words(code: str, lang: str) -> None:
    spoken = locale.text(lang, "finding.verdict_do", cell="a", finding=code)
    assert code not in spoken
    assert locale.text(lang, f"short.{code}") in spoken


@pytest.mark.parametrize("lang", locale.LANGUAGES)
def test_remedy_without_its_finding_points_to_the_health_section(lang: str) -> None:
    spoken = locale.text(lang, "finding.verdict_do", cell="a")
    assert spoken == locale.text(lang, "finding.verdict_do.without.finding", cell="a")
    assert locale.template(lang, "unknown") not in spoken


def test_selftest_without_planted_slowdowns_has_one_sentence() -> None:
    view = study(question="selftest", findings=[Finding(code="smallest_difference", params={"ratio": 1.02})])
    assert [one.key for one in sentences(view)] == ["finding.smallest_difference"]


def test_trimming_is_told_as_a_share_of_the_step_and_not_as_two_speeds() -> None:
    spoken = locale.text("en", "finding.allocator_trimming", fault_share=0.062, minor_faults_per_step=412.3)
    assert spoken == (
        "Steps spend about 6.2 % of their time on page faults (412 per step) because the C library returns memory "
        "to the system."
    )
    assert "6.2 %" in locale.text("zh", "finding.allocator_trimming", fault_share=0.062, minor_faults_per_step=412.3)
    assert "--allocator no_trim" in locale.text("en", "fix.allocator_trimming")


def test_trimming_of_an_older_study_is_told_without_the_share() -> None:
    spoken = locale.text("en", "finding.allocator_trimming", minor_faults_per_step=412.3)
    assert "412 page faults per step" in spoken
    assert "unknown" not in spoken


# Figures.


def test_fastest_is_called_so_only_by_the_verdict() -> None:
    cells = (cell("a", 0.01), cell("b", 0.005))
    assert titles(study(*cells, findings=[FASTEST]))[0] == "Fastest condition"
    assert titles(study(*cells))[0] == "Throughput"


def test_disturbed_condition_is_not_the_fastest() -> None:
    view = study(cell("a", 0.01), cell("b", 0.001, findings=[sick("steal", "b")]))
    best = fastest(view)
    assert best is not None
    assert best.label == "a"


def test_warned_condition_can_be_the_fastest() -> None:
    best = fastest(study(cell("a", 0.01), cell("b", 0.001, findings=[warned("few_steps", "b")])))
    assert best is not None
    assert best.label == "b"


def test_largest_speed_up_is_shown_with_its_pair() -> None:
    view = study(cell("a"), cell("b"), cell("c"), findings=[ratio(cell="b", speedup=1.5), ratio(cell="c", speedup=2.5)])
    shown = figure(view, "Speed-up")
    assert shown.datum.value == 2.5
    assert shown.note is not None
    assert speak("en", shown.note) == "c vs a"


@pytest.mark.parametrize(
    "finding",
    [
        ratio(speedup=0.7),
        ratio(speedup=1.3, distinct=False),
        ratio(speedup=1.3, code="ratio_forced", reasons=["steal"]),
        ratio(speedup=None, code="ratio_refused", reasons=["steal"]),
    ],
)
def test_what_is_no_seen_speed_up_is_not_shown_as_one(finding: Finding) -> None:
    assert "Speed-up" not in titles(study(cell("a"), cell("b"), findings=[finding]))


def test_phase_memory_and_mfu_of_the_fastest_are_shown_where_known() -> None:
    full = cell(
        "a",
        phases={"forward": 0.3, "backward": 0.7},
        memory={"pss_bytes": known(3 * 2**30)},
        achieved_flops=known(2e12),
        mfu_share=known(0.41),
    )
    assert titles(study(full)) == ["Throughput", "Largest phase", "Peak memory (PSS)", "MFU"]
    assert speak("en", figure(study(full), "Largest phase").note) == "Backward"  # type: ignore[arg-type]  # it has one
    assert speak("zh", figure(study(full), "MFU").note) == "实际 2.00 TFLOP/s"  # type: ignore[arg-type]  # it has one
    assert titles(study(cell("a"))) == ["Throughput"]


def shown_range(view: StudyView) -> Any:
    figures = content.study_content(0, view, [])["key_figures"]
    return figures[0]["range"] and speak("en", figures[0]["range"])


def test_interval_stands_beneath_its_figure() -> None:
    assert shown_range(study(cell(step_s=0.01))) == "95 %: 3,048 – 3,368"


def test_figure_of_one_process_has_no_interval() -> None:
    assert shown_range(study(cell(throughput=Estimate(value=3200.0), rounds=1))) is None


def test_enormous_interval_of_two_processes_is_too_wide_in_large_type_as_well() -> None:
    rate = Estimate(value=100.0, low=1.0, high=9000.0)
    assert shown_range(study(cell(throughput=rate, rounds=2))) == "95 %: too wide to say (2 processes)"
    assert shown_range(study(cell(throughput=rate, rounds=3))) == "95 %: 1.00 – 9,000"


# Machine and notices.


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, "4f1c9a7be0d23356"),
        ({"cpu_model": ""}, "4f1c9a7be0d23356"),
        ({"cpu_model": "CPU 9", "physical_cores": 4}, "CPU 9, 4 cores"),
        ({"cpu_model": "CPU 9"}, "CPU 9, unknown cores"),
        ({"cpu_model": "CPU 9", "physical_cores": 4, "accelerators": None}, "CPU 9, 4 cores"),
        ({"cpu_model": "CPU 9", "physical_cores": 4, "accelerators": [{"name": "GPU 1"}]}, "CPU 9, 4 cores, GPU 1"),
        (
            {"cpu_model": "CPU 9", "physical_cores": 4, "accelerators": [{"name": "GPU 1"}, {"name": "GPU 2"}]},
            "CPU 9, 4 cores, GPU 1, GPU 2",
        ),
    ],
)
def test_machine_in_a_few_words(facts: dict[str, Any], expected: str) -> None:
    assert speak("en", machine(study(environment=facts))) == expected


@pytest.mark.parametrize("code", sorted(CODES))
def test_each_finding_is_either_a_limit_or_told_elsewhere(code: str) -> None:
    about_one = is_notice(warned(code, "a"))
    about_all = is_notice(warned(code))
    if code.startswith(("verdict_", "ratio")):
        assert not about_one
        assert not about_all
    elif code in HEALTH:
        assert not about_one
    else:
        assert about_all
