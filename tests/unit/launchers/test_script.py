from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from pacenote.errors import MissingPartError, UsageError
from pacenote.launchers.script import ATTACH_VARIABLE, SITE, Script, command_of


def test_a_file_runs_in_the_interpreter_and_a_module_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("")
    assert command_of(str(file), ["--lr", "1"], module=False, python=None) == [sys.executable, str(file), "--lr", "1"]
    assert command_of("a.b", ["x"], module=True, python="/py") == ["/py", "-m", "a.b", "x"]
    assert command_of("sh", ["-c", "true"], module=False, python=None)[1:] == ["-c", "true"]


@pytest.mark.parametrize(("target", "words"), [("gone.py", "no file"), ("no-such-program", "neither")])
def test_what_is_not_there_is_told(target: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        command_of(target, [], module=False, python=None)


def ended(script: Script) -> int:
    try:
        code = None
        while code is None:
            code = script.wait(10)
        return code
    finally:
        script.close()


@pytest.mark.parametrize(("shell", "code"), [("exit 7", 7), ("kill -TERM $$", 143), ("true", 0)])
def test_the_exit_code_is_what_a_shell_says(shell: str, code: int, tmp_path: Path) -> None:
    assert ended(Script(["sh", "-c", shell], tmp_path)) == code


def test_the_environment_gains_two_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/own")
    out = tmp_path / "out"
    text = f"echo $PYTHONPATH ${ATTACH_VARIABLE} $MORE > {out}"
    assert ended(Script(["sh", "-c", text], tmp_path, {"MORE": "more"})) == 0
    assert out.read_text().split() == [os.pathsep.join((str(SITE), "/own")), str(tmp_path), "more"]


def test_what_cannot_be_run_is_told_and_signals_are_given_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(MissingPartError, match="cannot run"):
        Script([str(tmp_path)], tmp_path)
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_signal_that_is_ignored_stays_ignored_in_the_script(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert ended(Script(["sh", "-c", "kill -HUP $$; exit 3"], tmp_path)) == 3
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_to_us_reaches_the_script(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = Script(["sh", "-c", f"trap 'exit 4' USR1; touch {ready}; while :; do sleep 0.05; done"], tmp_path)
    while not ready.exists():
        assert script.wait(0.05) is None
    os.kill(os.getpid(), signal.SIGUSR1)
    assert ended(script) == 4
