"""What this machine offers and lacks: CPUs, limits, sensors, and what each framework can use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pacenote.child import frameworks
from pacenote.child.protocol import CONTROL_FD_VARIABLE, RESULT_FD_VARIABLE
from pacenote.redact import redact
from pacenote.system import accelerators, cpu, energy, load, process, thermal
from pacenote.system.interpreter import child_environ
from pacenote.system.machine import machine_facts
from pacenote.system.reader import Reader
from pacenote.system.snapshot import snapshot

_BOOT: Final = str(Path(__file__).resolve().parent.parent / "child" / "boot.py")

ANSWER_TIMEOUT_S: Final = 60.0
"""A framework is imported from a cold disk in 10 to 20 s; one that takes longer than a minute hangs."""

_ON_WINDOWS: Final = (
    "import msvcrt, os, runpy; "
    f"os.environ['{CONTROL_FD_VARIABLE}'] = str(msvcrt.get_osfhandle(0)); "
    f"os.environ['{RESULT_FD_VARIABLE}'] = str(msvcrt.get_osfhandle(1)); "
    f"runpy.run_path({_BOOT!r}, run_name='__main__')"
)
"""The child wants handles there, and which ones its standard streams have is known only inside it."""


def examine(python: str | None = None, reader: Reader | None = None) -> dict[str, Any]:
    """Look at everything a measurement depends on.

    Args:
        python: Interpreter whose frameworks are asked; the one that runs Pacenote by default.
        reader: Where to read; the live machine by default.

    Returns:
        ``machine`` (see :mod:`pacenote.system.machine`), ``now`` (see :mod:`pacenote.system.snapshot`),
        ``threads_default``, ``sensors`` (see :func:`sensors`), ``python``, ``frameworks`` (name → answer, see
        :func:`ask`).
    """
    reader = reader or Reader()
    asked = _start(python, [name for name in frameworks.names() if name != "simulated"])
    machine = machine_facts(reader)
    found = {
        "machine": machine,
        "now": snapshot(reader),
        "threads_default": cpu.threads_default(machine),
        "sensors": sensors(reader),
        "python": python or sys.executable,
    }
    return {**found, "frameworks": {name: _answer(name, child) for name, child in asked.items()}}


def ask(python: str | None, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Ask an interpreter about frameworks, each in a process of its own, all at once.

    Returns:
        Per framework ``installed`` and, if so, ``facts``, ``import_s`` and ``devices``: each with three answers (can
        the build use it, is its driver there, is a device there); else a ``reason`` code
        (``not_installed``, ``no_interpreter``, ``no_answer``) and the ``text`` of the failure.
    """
    return {name: _answer(name, child) for name, child in _start(python, names).items()}


def sensors(reader: Reader | None = None) -> dict[str, dict[str, Any]]:
    """Which quantities can be measured here: name → ``available`` and the ``reason`` code if not."""
    reader = reader or Reader()
    rapl = energy.read(reader)
    session, nvml_reason = accelerators.connect() if reader.live else (None, "recorded_tree")
    if session is not None:
        session.close()
    footprint = process.footprint(os.getpid(), reader)
    reasons = {
        "cpu_energy_j": rapl.reason,
        "dram_energy_j": "" if rapl.dram else rapl.reason or "no_dram_counter",
        "cpu_temperature_c": "" if thermal.temperature_c(reader) is not None else "no_temperature_sensor",
        "cpu_clock_hz": "" if thermal.clock_hz(reader)[0] is not None else "no_cpufreq",
        "thermal_throttle_count": "" if thermal.throttle_count(reader) is not None else "no_throttle_counter",
        "pressure_cpu_s": "" if load.pressure(reader, "cpu") else "no_pressure_file",
        "steal_s": "" if load.busy_and_steal_s(reader)[1] is not None else "not_on_this_system",
        "pss_bytes": footprint.pss_bytes.reason,
        "device_power_w": nvml_reason,
        "device_energy_j": nvml_reason,
        "device_clock_hz": nvml_reason,
        "device_temperature_c": nvml_reason,
        "device_utilisation_share": nvml_reason,
    }
    return {name: {"available": not reason, "reason": reason} for name, reason in reasons.items()}


def _start(python: str | None, names: Iterable[str]) -> dict[str, subprocess.Popen[bytes] | None]:
    """Start one child per framework with its job already written; ``None`` where the interpreter cannot run."""
    return {name: _start_one(python, name) for name in names}


def _start_one(python: str | None, name: str) -> subprocess.Popen[bytes] | None:
    descriptors = {CONTROL_FD_VARIABLE: "0", RESULT_FD_VARIABLE: "1"}
    script = [_BOOT] if sys.platform != "win32" else ["-c", _ON_WINDOWS]
    try:
        child = subprocess.Popen(
            [python or sys.executable, *script],
            env=child_environ(python, descriptors),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError:
        return None
    assert child.stdin is not None
    job = {"cmd": "job", "action": "facts", "framework": name}
    try:
        child.stdin.write(json.dumps(job).encode() + b"\n")
        child.stdin.flush()
    except BrokenPipeError:  # it ended at once; _answer() reads what it had to say
        pass
    return child


def _answer(name: str, child: subprocess.Popen[bytes] | None) -> dict[str, Any]:
    if child is None:
        return {"installed": None, "reason": "no_interpreter", "text": ""}
    try:
        output, errors = child.communicate(timeout=ANSWER_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        child.kill()
        output, errors = child.communicate()
    for line in output.splitlines():
        message = _message(line)  # a framework may print to the same stream
        if message.get("msg") == "facts" and name in (message.get("frameworks") or {}):
            answer: dict[str, Any] = message["frameworks"][name]
            return answer
        if message.get("msg") == "error":
            return {"installed": None, "reason": "no_answer", "text": redact(str(message.get("text", "")))}
    last = errors.decode(errors="replace").strip().splitlines()[-1:]
    return {"installed": None, "reason": "no_answer", "text": redact("".join(last))}


def _message(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
