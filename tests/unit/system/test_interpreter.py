from __future__ import annotations

import sys

from pacenote.system.interpreter import child_environ


def test_levers_win_and_the_rest_is_inherited(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("MY_SETTING", "kept")
    found = child_environ(None, {"OMP_NUM_THREADS": "2"})
    assert found["OMP_NUM_THREADS"] == "2"
    assert found["MY_SETTING"] == "kept"


def test_another_interpreter_does_not_load_our_packages(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/ours")
    monkeypatch.setenv("VIRTUAL_ENV", "/ours")
    assert "PYTHONPATH" not in child_environ("/elsewhere/bin/python", {})
    assert "VIRTUAL_ENV" not in child_environ("/elsewhere/bin/python", {})
    assert child_environ(sys.executable, {})["PYTHONPATH"] == "/ours"
