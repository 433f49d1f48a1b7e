from __future__ import annotations

from fixtures.study import make_study
from rich.console import Console

from pacenote.records import Finding
from pacenote.report import text, view


def printed(built: view.StudyView, lang: str, width: int = 100) -> str:
    console = Console(width=width, force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(*text.render(built, lang), sep="\n")
    return capture.get()


def test_verdict_is_two_sentences() -> None:
    built = view.build(*make_study())
    assert text.verdict(built, "en").count(". ") == 1
    assert text.verdict(built, "zh").count("。") == 2


def test_refused_ratio_shows_its_reason_and_no_number() -> None:
    line = next(line for line in printed(view.build(*make_study()), "en").splitlines() if "refused" in line)
    assert "other programs running" in line
    assert "×" not in line


def test_labels_are_not_markup_and_cannot_steer_the_terminal() -> None:
    label = "[red]x[/red]\x1b[2J\x07"
    finding = Finding(code="trial_failed", subject=label, params={"count": 1, "status": "crashed", "error_text": label})
    shown = printed(view.build(*make_study(findings=[finding])), "en")
    assert "[red]x[/red]" in shown
    assert "\x1b[2J" not in shown
    assert "\x07" not in shown


def test_narrow_terminal_keeps_every_line_within() -> None:
    for lang in ("en", "zh"):
        console = Console(width=80, color_system=None)
        with console.capture() as capture:
            console.print(*text.render(view.build(*make_study()), lang), sep="\n")
        assert "pytorch b256" in capture.get()
        assert max(len(line) for line in capture.get().splitlines()) <= 80


def test_study_that_was_not_judged_says_so() -> None:
    built = view.build(*make_study(findings=[]))
    assert text.verdict(built, "en") == "Nothing could be measured."
