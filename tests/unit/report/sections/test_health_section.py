"""The health section: one entry per kind of finding, with its conditions, its figures and its remedy."""

from __future__ import annotations

import pytest
from fixtures.views import cell, ratio, sick, study, warned
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pacenote.findings.codes import HEALTH
from pacenote.records import Finding
from pacenote.report import locale, text
from pacenote.report.blocks import Line, Lines
from pacenote.report.model import CellView
from pacenote.report.sections import health
from pacenote.report.words import speak


def lines(*findings: Finding, cells: tuple[CellView, ...] = ()) -> list[Line]:
    section = health.build(study(*(cells or (cell("a"), cell("b"), cell("c"))), findings=list(findings)))
    assert section is not None
    (block,) = section.blocks
    assert isinstance(block, Lines)
    return block.lines


def subject(line: Line, lang: str = "en") -> str | None:
    return None if line.subject is None else speak(lang, line.subject)


def test_undisturbed_study_says_so_on_the_page_and_nothing_in_the_terminal() -> None:
    section = health.build(study(cell()))
    assert section is not None
    assert not section.terminal
    (line,) = lines()
    assert speak("en", line.text) == "Nothing disturbed the measurement."
    assert line.tone == "good"


def test_one_condition_is_named() -> None:
    (line,) = lines(sick("steal", "b", steal_share=0.2))
    assert subject(line) == "b"
    assert speak("en", line.text) == "The host gave 20.0 % of this machine's CPU time to other guests."


def test_same_finding_on_two_conditions_is_one_entry_naming_both() -> None:
    (line,) = lines(sick("steal", "a", steal_share=0.2), sick("steal", "c", steal_share=0.2))
    assert subject(line) == "a, c"
    assert subject(line, "zh") == "a、c"


def test_same_finding_on_all_conditions_says_all() -> None:
    (line,) = lines(*(sick("steal", label, steal_share=0.2) for label in "abc"))
    assert subject(line) == "All conditions"
    assert subject(line, "zh") == "所有条件"


def test_all_that_were_measured_is_not_all() -> None:
    cells = (cell("a"), cell("b"), cell("oom", None))
    (line,) = lines(sick("steal", "a"), sick("steal", "b"), cells=cells)
    assert subject(line) == "All measured conditions"


def test_only_condition_is_called_by_its_name() -> None:
    (line,) = lines(sick("steal", "a"), cells=(cell("a"),))
    assert subject(line) == "a"


def test_finding_of_a_third_party_about_the_whole_study_names_no_condition() -> None:
    (line,) = lines(sick("sunspots"))
    assert line.subject is None


def test_different_figures_become_their_range() -> None:
    (line,) = lines(sick("other_load", "a", other_cpus=0.62), sick("other_load", "b", other_cpus=1.3))
    assert speak("en", line.text) == "Other programs used 0.62 – 1.3 CPUs while this was measured."
    assert speak("zh", line.text) == "测量期间其他程序占用了 0.62 – 1.3 个 CPU。"


def test_figures_that_read_the_same_are_one() -> None:
    (line,) = lines(sick("steal", "a", steal_share=0.20001), sick("steal", "b", steal_share=0.20002))
    assert "gave 20.0 % of" in speak("en", line.text)


def test_range_has_its_unit_once() -> None:
    (line,) = lines(
        sick("swapping", "a", swap_bytes=0.0, swapped_bytes=2**20),
        sick("swapping", "b", swap_bytes=0.0, swapped_bytes=3 * 2**20),
    )
    assert "1.00 – 3.00 MiB moved" in speak("en", line.text)


def test_unknown_figure_of_one_condition_leaves_the_known_one() -> None:
    (line,) = lines(
        sick("thermal_throttle", "a", temperature_c=None, clock_share=None),
        sick("thermal_throttle", "b", temperature_c=97.0, clock_share=0.6),
    )
    assert speak("en", line.text) == "Heat slowed the processor down: 97.0 °C, clock at 60.0 % of its maximum."


def test_figure_that_nobody_knows_is_worked_around() -> None:
    (line,) = lines(
        sick("thermal_throttle", "a", temperature_c=None, clock_share=None),
        sick("thermal_throttle", "b", temperature_c=None, clock_share=None),
    )
    assert speak("en", line.text) == "Heat slowed the processor down: the hardware reported it."


def test_lists_are_joined_without_doubles() -> None:
    (line,) = lines(
        sick("debug_mode", "a", flags=["anomaly_mode"]), sick("debug_mode", "b", flags=["anomaly_mode", "profiler"])
    )
    assert speak("en", line.text) == "Debugging aids are switched on: anomaly_mode, profiler."


def test_differing_words_are_listed() -> None:
    (line,) = lines(sick("debug_mode", "a", flags="x"), sick("debug_mode", "b", flags="y"))
    assert speak("en", line.text) == "Debugging aids are switched on: x, y."


def test_processes_add_up_over_conditions() -> None:
    (line,) = lines(
        sick("steal", "a", steal_share=0.2, trials=1, of_trials=3),
        sick("steal", "b", steal_share=0.2, trials=2, of_trials=3),
    )
    assert speak("en", line.text).endswith("Seen in 3 of 6 processes.")
    assert speak("zh", line.text).endswith("见于 6 个进程中的 3 个。")


def test_count_of_processes_is_not_told_when_it_is_all_of_them() -> None:
    (line,) = lines(
        sick("steal", "a", steal_share=0.2, trials=3, of_trials=3),
        sick("steal", "b", steal_share=0.2, trials=3, of_trials=3),
    )
    assert "Seen in" not in speak("en", line.text)


def test_unhealthy_kinds_come_first_and_warnings_after() -> None:
    found = [warned("few_steps", "a", steps=4), sick("steal", "b"), warned("major_faults", "a"), sick("swapping", "a")]
    told = [(line.text.key, line.tone) for line in lines(*found)]
    assert told == [
        ("finding.steal", "bad"),
        ("finding.swapping", "bad"),
        ("finding.few_steps", "warn"),
        ("finding.major_faults", "warn"),
    ]


def test_kind_that_forbids_here_and_warns_there_is_two_entries() -> None:
    found = (warned("allocator_trimming", "a", fault_share=0.06), sick("allocator_trimming", "b", fault_share=0.2))
    assert [(subject(line), line.tone) for line in lines(*found)] == [("b", "bad"), ("a", "warn")]


def test_every_entry_says_what_to_do_in_its_own_figures() -> None:
    (line,) = lines(
        sick("threads_over_cores", "a", threads=8, cores=2), sick("threads_over_cores", "b", threads=4, cores=2)
    )
    assert speak("en", line.text) == "4 – 8 compute threads share 2 cores and wait for each other."
    assert line.fix is not None
    assert speak("en", line.fix) == "Use --threads 2."


def test_finding_without_advice_has_none() -> None:
    assert lines(sick("sunspots", "a", spots_count=3))[0].fix is None


def test_what_is_told_elsewhere_is_not_a_matter_of_health() -> None:
    found = (
        ratio(),
        warned("verdict_refused", reasons=["steal"]),
        warned("trial_failed", "a", count=1, status="crashed"),
        warned("budget_ended", rounds=2, wanted_rounds=5),
        Finding(code="cell_time", subject="a", params={}),
    )
    assert [line.tone for line in lines(*found)] == ["good"]


def test_terminal_shows_the_conditions_before_the_sentence() -> None:
    view = study(cell("a"), cell("b"), findings=[sick("steal", label, steal_share=0.2) for label in "ab"])
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        console.print(*text.render(view, "en"), sep="\n")
    assert "✗ All conditions: The host gave 20.0 %" in capture.get()
    assert capture.get().count("What to do:") == 1


@pytest.mark.parametrize("code", sorted(HEALTH))
def test_no_kind_shows_a_code_or_an_unknown_when_merged(code: str) -> None:
    one = {name: 0.5 for name in HEALTH[code]} | ({"flags": ["anomaly_mode"]} if code == "debug_mode" else {})
    two = {name: value if isinstance(value, list) else 0.75 for name, value in one.items()}
    (line,) = lines(sick(code, "a", **one), sick(code, "b", **two))
    for lang in locale.LANGUAGES:
        for message in (line.text, line.fix):
            assert message is not None
            assert code not in speak(lang, message)
            assert locale.template(lang, "unknown") not in speak(lang, message)


@given(
    st.lists(
        st.tuples(st.sampled_from(["steal", "swapping", "few_steps"]), st.sampled_from("abc"), st.booleans()),
        max_size=12,
    )
)
def test_no_finding_is_lost_and_no_kind_told_twice(found: list[tuple[str, str, bool]]) -> None:
    made = [(sick if unhealthy else warned)(code, label) for code, label, unhealthy in found]
    told = lines(*made, cells=tuple(cell(label) for label in "abcd"))
    kinds = [(line.text.key.removeprefix("finding."), line.tone == "bad") for line in told if line.tone != "good"]
    assert len(set(kinds)) == len(kinds)
    assert set(kinds) == {(code, unhealthy) for code, _, unhealthy in found}
    for line, kind in zip(told, kinds, strict=False):
        named = set((subject(line) or "").split(", "))
        assert named == {label for code, label, unhealthy in found if (code, unhealthy) == kind}
