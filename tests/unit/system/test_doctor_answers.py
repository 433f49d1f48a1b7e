"""What an interpreter may answer when it is asked about frameworks, and what is made of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from composed import Machine

from pacenote.system import accelerators, doctor, sensors

Interpreter = Callable[..., str]


@pytest.fixture
def interpreter(tmp_path: Path) -> Interpreter:
    """A stand-in for Python that answers with the given lines and ends with a code."""

    def make(*lines: str, errors: str = "", code: int = 0) -> str:
        answers, complaints = tmp_path / "answers", tmp_path / "complaints"
        answers.write_text("".join(line + "\n" for line in lines))
        complaints.write_text(errors)
        path = tmp_path / "python"
        path.write_text(f'#!/bin/sh\nread job\ncat "{answers}"\ncat "{complaints}" >&2\nexit {code}\n')
        path.chmod(0o755)
        return str(path)

    return make


def facts(**answers: Any) -> str:
    return json.dumps({"msg": "facts", "frameworks": answers})


INSTALLED = {"installed": True, "facts": {"version": "2.6.0"}, "devices": [{"name": "cpu", "available": True}]}


def test_an_answer_is_passed_on_as_it_is(interpreter: Interpreter) -> None:
    assert doctor.ask(interpreter(facts(pytorch=INSTALLED)), ["pytorch"]) == {"pytorch": INSTALLED}


def test_an_answer_counts_whatever_the_exit_code_was(interpreter: Interpreter) -> None:
    """Some frameworks crash while they are torn down."""
    python = interpreter(facts(paddle=INSTALLED), errors="Aborted (core dumped)\n", code=134)
    assert doctor.ask(python, ["paddle"])["paddle"] == INSTALLED


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "null",
        "3",
        '"facts"',
        "[1, 2]",
        '{"msg": "facts"}',
        '{"msg": "facts", "frameworks": null}',
        '{"msg": "facts", "frameworks": {"another": {}}}',
        '{"msg": "hello", "pid": 1}',
        "W0101 12:00:00 plugin_manager.cc:91] something was not found",
    ],
)
def test_lines_that_are_no_answer_are_passed_over(interpreter: Interpreter, line: str) -> None:
    assert doctor.ask(interpreter(line, facts(pytorch=INSTALLED)), ["pytorch"])["pytorch"] == INSTALLED
    found = doctor.ask(interpreter(line, errors="noise\nlast line\n"), ["pytorch"])["pytorch"]
    assert found == {"installed": None, "reason": "no_answer", "text": "last line"}


def test_an_error_message_is_told_without_its_secrets(interpreter: Interpreter) -> None:
    python = interpreter(json.dumps({"msg": "error", "kind": "exception", "text": "no license, token=tiger-lily"}))
    found = doctor.ask(python, ["pytorch"])["pytorch"]
    assert (found["reason"], found["text"]) == ("no_answer", "no license, token=<redacted>")


@pytest.mark.parametrize("errors", ["", "\n\n", "   \n"])
def test_silence_is_no_answer_without_a_text(interpreter: Interpreter, errors: str) -> None:
    found = doctor.ask(interpreter(errors=errors, code=1), ["paddle"])["paddle"]
    assert found == {"installed": None, "reason": "no_answer", "text": ""}


def test_each_framework_has_its_own_answer(interpreter: Interpreter) -> None:
    python = interpreter(facts(pytorch=INSTALLED, paddle={"installed": False, "reason": "not_installed"}))
    found = doctor.ask(python, ["pytorch", "paddle"])
    assert [found[name]["installed"] for name in ("pytorch", "paddle")] == [True, False]
    assert doctor.ask(python, []) == {}


def test_a_file_that_is_no_program_is_no_interpreter(tmp_path: Path) -> None:
    path = tmp_path / "python"
    path.write_text("not a program")
    assert doctor.ask(str(path), ["pytorch"])["pytorch"] == {"installed": None, "reason": "no_interpreter", "text": ""}
    assert doctor.ask(str(tmp_path), ["pytorch"])["pytorch"]["reason"] == "no_interpreter"


def test_the_program_that_is_asked_gets_no_variables_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/ours")
    monkeypatch.setenv("VIRTUAL_ENV", "/ours")
    path = tmp_path / "python"
    path.write_text('#!/bin/sh\nread job\necho "[$PYTHONPATH$VIRTUAL_ENV]" >&2\nexit 1\n')
    path.chmod(0o755)
    assert doctor.ask(str(path), ["pytorch"])["pytorch"]["text"] == "[]"


QUANTITIES = {
    *["cpu_energy_j", "dram_energy_j", "cpu_temperature_c", "cpu_clock_hz", "thermal_throttle_count", "steal_s"],
    *["pressure_cpu_s", "pss_bytes", "device_power_w", "device_energy_j", "device_clock_hz"],
    *["device_temperature_c", "device_utilisation_share"],
}


def test_every_quantity_is_there_or_has_a_reason(tmp_path: Path) -> None:
    found = doctor.sensors(Machine(tmp_path).reader)
    assert set(found) == QUANTITIES
    for name, answer in found.items():
        assert answer["available"] is False, name
        assert answer["reason"], name


def test_a_package_counter_without_one_for_memory(tmp_path: Path) -> None:
    machine = Machine(tmp_path).file("/sys/class/powercap/intel-rapl:0/name", "package-0")
    found = doctor.sensors(machine.file("/sys/class/powercap/intel-rapl:0/energy_uj", "5").reader)
    assert found["cpu_energy_j"] == {"available": True, "reason": ""}
    assert found["dram_energy_j"] == {"available": False, "reason": "no_dram_counter"}


def test_what_the_doctor_promises_of_the_cpu_is_what_a_trial_gets(tmp_path: Path) -> None:
    """The same reason code stands in the doctor's answer and in the record."""
    reader = Machine(tmp_path).reader
    promised = doctor.sensors(reader)
    watch = sensors.Watch("cpu", reader)
    watch.begin()
    watch.end()
    found = watch.result()
    for name in ("cpu_energy_j", "cpu_temperature_c", "cpu_clock_hz"):
        assert getattr(found, name).reason == promised[name]["reason"]


@pytest.mark.parametrize("reason", ["nvml_package_missing", "no_nvidia_driver", "no_nvidia_device"])
def test_the_live_machine_says_why_it_has_no_card(monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    monkeypatch.setattr(accelerators, "connect", lambda: (None, reason))
    assert doctor.sensors()["device_power_w"] == {"available": False, "reason": reason}
