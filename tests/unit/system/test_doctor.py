from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pacenote.system import doctor


@pytest.fixture
def interpreter(tmp_path):
    """Make a stand-in interpreter that runs the given shell lines."""

    def make(*lines: str) -> str:
        path = tmp_path / "python"
        path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
        path.chmod(0o755)
        return str(path)

    return make


def test_an_interpreter_without_the_framework(tmp_path):
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # -S: no site-packages
    bare.chmod(0o755)
    answer = doctor.ask(str(bare), ["pytorch"])["pytorch"]
    assert answer["installed"] is False
    assert answer["reason"] == "not_installed"


def test_no_such_interpreter():
    assert doctor.ask("/nowhere/python", ["paddle"])["paddle"]["reason"] == "no_interpreter"


def test_an_interpreter_that_dies_tells_its_last_words_without_secrets(interpreter):
    python = interpreter("echo 'bad password=hunter22' >&2", "exit 3")
    answer = doctor.ask(python, ["pytorch"])["pytorch"]
    assert answer["reason"] == "no_answer"
    assert answer["text"] == "bad password=<redacted>"


def test_noise_before_the_answer_is_passed_over(interpreter):
    facts = json.dumps({"msg": "facts", "frameworks": {"pytorch": {"installed": True}}})
    python = interpreter("echo 'a banner'", "echo '[1]'", f"echo '{facts}'")
    assert doctor.ask(python, ["pytorch"]) == {"pytorch": {"installed": True}}


def test_one_that_never_answers_is_ended(interpreter, monkeypatch):
    monkeypatch.setattr(doctor, "ANSWER_TIMEOUT_S", 0.2)
    python = interpreter("exec sleep 600")
    assert doctor.ask(python, ["pytorch"])["pytorch"]["reason"] == "no_answer"


def test_sensors_of_recorded_machines(tree):
    found = doctor.sensors(tree())
    assert found["cpu_energy_j"] == {"available": False, "reason": "no_rapl"}
    assert found["pressure_cpu_s"] == {"available": True, "reason": ""}
    found = doctor.sensors(tree("rapl", "thermal", without=("proc/pressure",)))
    assert found["cpu_energy_j"]["available"]
    assert found["cpu_temperature_c"]["available"]
    assert found["pressure_cpu_s"]["reason"] == "no_pressure_file"


def test_examine_puts_it_together(monkeypatch, tree):
    asked = []
    monkeypatch.setattr(doctor, "_start", lambda python, names: asked.extend(names) or dict.fromkeys(names))
    found = doctor.examine("/some/python", tree("v2_nested"))
    assert "simulated" not in asked
    assert {"pytorch", "paddle"} <= set(found["frameworks"])
    assert found["python"] == "/some/python"
    assert found["threads_default"] == 1
    assert found["now"]["quota_cpus"] == 1.5


def test_boot_script_is_where_it_is_looked_for():
    assert Path(doctor._BOOT).is_file()
