"""Progress is lines on stderr where nothing can be rewritten, and a bar on a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from pacenote.cli.progress import Watcher
from pacenote.records import Status
from pacenote.runner import progress as events

STARTED = events.StudyStarted(study_id="s", cells=["a", "b"], rounds=3, rounds_kept=0, expected_s=60.0)
TURN = events.TurnDone(
    cell="pytorch b32",
    round=0,
    turn=1,
    turns=6,
    steps=50,
    step_time_s=0.005,
    samples_per_s=6400.0,
    remaining_s=45.0,
)


def ended(status: Status, text: str = "") -> events.TrialEnded:
    return events.TrialEnded(cell="b", round=0, trial_id="t", status=status, text=text)


def told(*given: events.Event, quiet: bool = False, language: str = "en") -> None:
    with Watcher(language, quiet=quiet) as watcher:
        for event in given:
            watcher(event)


def test_a_log_gets_a_line_per_round(capsys: pytest.CaptureFixture[str]) -> None:
    round_started = events.RoundStarted(round=0, rounds=3, remaining_s=58.0)
    told(STARTED, round_started, TURN, ended(Status.FINISHED), events.StudyEnded(rounds=3, reason="rounds"))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "2 condition(s), up to 3 rounds, about 60.0 s.",
        "round 1 of 3, about 58.0 s left",
        "3 round(s) measured.",
    ]


def test_a_resumed_run_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    told(events.StudyStarted(study_id="s", cells=["a"], rounds=3, rounds_kept=2, expected_s=60.0))
    assert "2 finished round(s) of an earlier, interrupted run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("budget", "time budget"),
        ("within", "interval"),
        ("interrupted", "same command"),
        ("nothing_left", "No condition"),
    ],
)
def test_each_ending_has_its_words(capsys: pytest.CaptureFixture[str], reason: str, expected: str) -> None:
    told(events.StudyEnded(rounds=2, reason=reason))
    assert expected in capsys.readouterr().err


def test_a_failure_is_shown_even_when_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    told(STARTED, TURN, ended(Status.CRASHED, "RuntimeError: boom\nsecond line"), quiet=True)
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("b: crashed")
    assert "boom" in line
    assert "second line" not in line


def test_it_speaks_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    told(STARTED, language="zh")
    assert "个条件" in capsys.readouterr().err


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_with_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    calibration = events.CalibrationStarted(framework="pytorch", device="cpu")
    ready = events.TrialReady(cell="pytorch b32", round=0, start_s=2.0)
    told(STARTED, calibration, events.RoundStarted(round=0, rounds=3, remaining_s=58.0), ready, TURN)
    shown = terminal.getvalue()
    assert "measuring the ceilings of pytorch on cpu" in shown
    assert "about 45.0 s left" in shown
    assert "6,400 samples/s" in shown


def test_the_bar_has_no_clock_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm-256color")
    with Watcher("en") as watcher:
        assert watcher._bar is not None
        assert not watcher._bar.live.auto_refresh
