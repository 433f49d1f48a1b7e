from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from pacenote.cli.main import execute


class Answer(NamedTuple):
    """What a command left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str


Call = Callable[..., Answer]


@pytest.fixture
def store_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("PACENOTE_STORE", str(path))
    return path


@pytest.fixture
def call(store_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run the command line in this process, with a store of its own and in English."""
    monkeypatch.setenv("PACENOTE_LANG", "en")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> Answer:
        code = execute(arguments)
        out, err = capfd.readouterr()
        return Answer(code, out, err)

    return run
