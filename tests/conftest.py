"""Shared by all tests; its folder holds the hand-made records of fake_trials.py and the study of fixtures/."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that rewrites golden files; the difference is then read in the commit."""
    parser.addoption("--update-golden", action="store_true", help="write golden files anew instead of comparing")


def pytest_configure() -> None:
    """Hear the signals that the tests send: a shell's background jobs, and all below nohup, ignore some of them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGHUP", "SIGQUIT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the golden file of that name, beside the test."""

    def compare(name: str, text: str) -> None:
        path = Path(request.path).parent / "expected" / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            return
        assert path.is_file(), f"{path} is missing; run pytest with --update-golden"
        assert text == path.read_text(encoding="utf-8"), "run pytest with --update-golden if this change is meant"

    return compare
