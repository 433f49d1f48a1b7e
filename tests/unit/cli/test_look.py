from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pacenote.records import Study
from pacenote.store import Store

Call = Callable[..., Any]


def with_frameworks(monkeypatch: pytest.MonkeyPatch, *installed: str) -> None:
    monkeypatch.setattr(
        "pacenote.cli.look.importlib.util.find_spec",
        lambda name: importlib.util.find_spec.__name__ if name in installed else None,
    )


def test_it_shows_the_machine_and_the_next_command(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    with_frameworks(monkeypatch, "torch")
    answer = call()
    assert answer.code == 0
    assert "PyTorch" in answer.out
    assert "PaddlePaddle" not in answer.out
    assert "Next: pacenote run lenet" in answer.out


def test_without_a_framework_it_says_what_to_install(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    with_frameworks(monkeypatch)
    out = call().out
    assert "No framework is installed here." in out
    assert "Next: pip install 'pacenote[torch]'" in out


def test_after_a_run_it_offers_to_show_it(call: Call, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_frameworks(monkeypatch, "torch", "paddle")
    with Store(store_path) as store:
        store.put_study(Study(id="1" * 20, question="run", name="mine", created_unix_s=1.0))
    out = call().out
    assert "mine run" in out
    assert "pacenote show last" in out


def test_a_broken_store_does_not_spoil_it(call: Call, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_frameworks(monkeypatch, "torch")
    store_path.write_text("this is no database, but it is long enough to have a header" * 3)
    answer = call()
    assert answer.code == 0
    assert "is not a Pacenote store" in answer.err
    assert "pacenote run lenet" in answer.out
