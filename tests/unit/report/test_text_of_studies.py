"""The terminal's report of studies of every shape, as it is read."""

from __future__ import annotations

from typing import Any

import pytest
from fixtures.views import cell, memory, ratio, sick, study, trial, warned
from rich.console import Console

from pacenote.records import Finding, Status
from pacenote.report import page, text
from pacenote.report.blocks import Column, Datum, Section, Table, literal
from pacenote.report.model import Estimate, StudyView
from pacenote.report.sections import SECTIONS, SectionPart


def printed(built: StudyView, lang: str = "en", width: int = 100) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(*text.render(built, lang), sep="\n")
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def headings(built: StudyView) -> list[str]:
    known_titles = {
        "Comparison",
        "Health",
        "Where the time goes",
        "Limits of this study",
        "Self-test",
        "Memory",
        "Energy",
    }
    return [line for line in printed(built).splitlines() if line in known_titles]


FULL = study(
    cell("a", phases={"forward": 0.4, "backward": 0.6}, memory=memory(pss_bytes=2**30)),
    cell("b", 0.005, phases={"forward": 0.5, "backward": 0.5}, memory=memory(pss_bytes=2**30)),
    findings=[
        ratio(speedup=2.0),
        sick("steal", "a", steal_share=0.1),
        warned("one_device", device="cpu"),
        Finding(
            code="verdict_fastest",
            params={"cell": "b", "baseline": "a", "samples_per_s": 6400.0, "speedup": 2.0, "low": 1.9, "high": 2.1},
        ),
    ],
    trials=[trial("a"), trial("b")],
)


def test_parts_stand_in_order_with_the_limits_right_above_the_verdict() -> None:
    assert headings(FULL) == ["Comparison", "Health", "Where the time goes", "Limits of this study"]
    assert printed(FULL).splitlines()[-1] == "b is the fastest: 6,400 samples/s, 2.00× as fast as a."


def test_what_only_the_page_shows_is_not_in_the_terminal() -> None:
    assert "PSS" not in printed(FULL)
    assert "Method" not in printed(FULL)


def test_healthy_study_has_no_health_section_in_the_terminal() -> None:
    assert headings(study(cell("a"), cell("b"), findings=[ratio()])) == ["Comparison"]


def test_study_that_measured_nothing_is_short() -> None:
    failed = warned("trial_failed", "a", count=1, status="hung")
    lines = printed(study(cell("a", None, rounds=0, findings=[failed]), findings=[failed])).splitlines()
    assert any(line.split() == ["a", "hung", "0"] for line in lines)
    assert lines[-1] == "Nothing could be measured."


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("count", [1, 2, 30])
def test_every_condition_is_listed_once_in_the_results(count: int, lang: str) -> None:
    view = study(*(cell(f"condition-{number}") for number in range(count)))
    shown = printed(view, lang).splitlines()
    for number in range(count):
        assert sum(f"condition-{number}" in line.split() for line in shown) == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("status", [status for status in Status if status is not Status.FINISHED])
def test_every_way_to_end_early_is_told(status: Status, lang: str) -> None:
    failed = warned("trial_failed", "b", count=1, status=status.value, error_type="E", error_text="text of it")
    shown = printed(study(cell("a"), cell("b", None, rounds=0, findings=[failed]), findings=[failed]), lang)
    assert "E: text of it" in shown.replace("\n", " ")
    assert status.value not in shown or status.value in ("killed", "hung", "crashed", "interrupted")


def test_too_wide_interval_is_said_in_the_terminal() -> None:
    wide = Estimate(value=0.01, low=0.001, high=0.1)
    shown = printed(study(cell("a", step_time=wide, rounds=2)))
    assert "too wide to say (2 processes)" in shown
    assert "太宽，无法判断（2 个进程）" in printed(study(cell("a", step_time=wide, rounds=2)), "zh")


def test_accelerator_that_ran_dry_is_told_with_its_reason_on_the_page() -> None:
    found = memory("not_reported", pss_bytes=2**30)
    shown = page.render([study(cell("a", device="cuda:0", memory=found))], "en")
    assert "not reported" in shown


def test_selftest_shows_its_own_table_and_verdict() -> None:
    found = [
        Finding(code="aa", subject="again", params={"low": 0.99, "high": 1.01, "covered": True}),
        Finding(code="smallest_difference", params={"ratio": 1.01}),
    ]
    shown = printed(study(question="selftest", findings=found))
    assert "as planted" in shown
    assert shown.splitlines()[-1] == "Differences of 1.0 % and more can be seen on this machine."


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(len(line) for line in printed(FULL, width=width).splitlines()) <= width


def test_long_label_wraps_and_pushes_no_figure_away() -> None:
    label = "pytorch threads 4 batch size 256 channels last bf16 " * 2
    shown = printed(study(cell(label.strip())), width=80)
    assert "10.0 ms" in shown


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Adds a section to the report for one test."""

    def add(build: Any) -> None:
        parts = [*SECTIONS, SectionPart(name="extra", place=1, build=build)]
        monkeypatch.setattr("pacenote.report.sections.SECTIONS", parts)

    return add


def test_section_of_a_third_party_is_shown(third_party: Any) -> None:
    columns = [Column(title=literal("Who")), Column(title=literal("Spots"), unit="count")]
    rows = [[Datum(text=literal("sun")), Datum(value=12.0, tone="odd")]]
    made = Section(
        name="extra", title=literal("Extra"), blocks=[Table(name="t", columns=columns, rows=rows)], terminal=True
    )
    third_party(lambda view: made)
    assert "sun" in printed(FULL)
    assert 'id="s0-extra"' in page.render([FULL], "en")


def test_table_with_nothing_but_names_is_left_out_of_the_terminal(third_party: Any) -> None:
    columns = [Column(title=literal("Who")), Column(title=literal("Spots"), unit="count")]
    rows = [[Datum(text=literal("sun")), Datum(reason=literal("cloudy"))]]
    made = Section(
        name="extra", title=literal("Extra"), blocks=[Table(name="t", columns=columns, rows=rows)], terminal=True
    )
    third_party(lambda view: made)
    assert "Extra" not in printed(FULL)
    assert "cloudy" in page.render([FULL], "en")
