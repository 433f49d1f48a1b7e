"""What this machine offers for a plan: which frameworks are installed, and which devices each can use."""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pacenote.errors import MissingPartError, UnknownNameError
from pacenote.plan import FRAMEWORK_ALIASES, FRAMEWORK_MODULES, RunOptions, common_device_name
from pacenote.records import Record
from pacenote.system.doctor import ask

Answers = Mapping[str, Mapping[str, Any]]

DRIVER_FILES: Final = ("/dev/nvidiactl", "/dev/kfd", "/dev/dri", "/dev/accel", "/dev/dxg")
"""One of them exists wherever Linux has a driver for an accelerator (NVIDIA, AMD, Intel, NPUs, WSL)."""

INSTALL_ADVICE: Final = "pip install 'pacenote[torch]' or pip install 'pacenote[paddle]'"


class Absent(Record, frozen=True, kw_only=True):
    """A framework's device that was asked for, or could have been used, and why it is not there."""

    framework: str
    device: str
    reason: str


class Offer(Record, frozen=True, kw_only=True):
    """What will be run on what."""

    frameworks: list[str]
    devices: dict[str, list[str]]
    absent: list[Absent] = []


def find(options: RunOptions, ask_them: Callable[[str | None, list[str]], Answers] = ask) -> Offer:
    """Match what was asked with what is there.

    Without an accelerator's driver on the machine the answer is known at once. Otherwise each framework is asked in
    a process of its own, which takes as long as its import.

    Raises:
        MissingPartError: If a framework or device that was asked for is not there, or nothing is installed.
        UnknownNameError: If a framework has a name that nobody knows.
    """
    names = framework_names(options.frameworks)
    if names == ["simulated"]:
        return Offer(frameworks=names, devices={"simulated": ["cpu"]})
    wanted = names or list(FRAMEWORK_MODULES)
    if options.python is None:
        there = [name for name in wanted if importlib.util.find_spec(FRAMEWORK_MODULES[name]) is not None]
        _require(names, there)
        if options.devices in ([], ["cpu"]) and not may_have_accelerator():
            return Offer(frameworks=there, devices={name: ["cpu"] for name in there})
        wanted = there
    return match(options, names, ask_them(options.python, wanted))


def match(options: RunOptions, names: Sequence[str], answers: Answers) -> Offer:
    """Choose devices from the frameworks' own answers; see :func:`find`."""
    there = [name for name in answers if answers[name].get("installed")]
    _require(names, there, {name: str(answers[name].get("text", "")) for name in answers})
    devices: dict[str, list[str]] = {}
    absent: list[Absent] = []
    for name in there:
        found = answers[name].get("devices", [])
        devices[name] = _chosen(options.devices, found)
        absent += [
            Absent(framework=name, device=str(one["kind"]), reason=str(one.get("reason") or "no_device"))
            for one in found
            if not one["available"]
        ]
    for device in options.devices:
        if not any(_is(device, chosen) for name in there for chosen in devices[name]):
            reasons = {one.framework: one.reason for one in absent if _is(device, one.device)}
            said = "; ".join(f"{name}: {reason}" for name, reason in reasons.items()) or "no framework knows it"
            raise MissingPartError(f"device {device!r} cannot be used here ({said}); see: pacenote doctor.")
    return Offer(frameworks=[name for name in there if devices[name]], devices=devices, absent=absent)


def framework_names(asked: Sequence[str]) -> list[str]:
    """Resolve ``torch`` and ``pytorch`` to one name, keep the order.

    Raises:
        UnknownNameError: If there is no such framework.
    """
    known = [*FRAMEWORK_MODULES, "simulated"]
    names = [FRAMEWORK_ALIASES.get(name.lower(), name.lower()) for name in asked]
    for name in names:
        if name not in known:
            raise UnknownNameError("framework", name, FRAMEWORK_MODULES)
    return list(dict.fromkeys(names))


def may_have_accelerator(exists: Callable[[str], bool] = os.path.exists, system: str | None = None) -> bool:
    """Whether asking a framework for devices could bring anything but the CPU."""
    return (system or platform.system()) != "Linux" or any(exists(path) for path in DRIVER_FILES)


def _require(asked: Sequence[str], there: Sequence[str], texts: Mapping[str, str] | None = None) -> None:
    missing = [name for name in asked if name not in there]
    if missing:
        said = (texts or {}).get(missing[0], "")
        why = f" ({said.splitlines()[0]})" if said else ""
        raise MissingPartError(f"{missing[0]} is not installed{why}; install it with: {advice(missing[0])}.")
    if not there:
        raise MissingPartError(f"no framework is installed; install one with: {INSTALL_ADVICE}.")


def advice(framework: str) -> str:
    """The command that installs a framework."""
    return f"pip install 'pacenote[{FRAMEWORK_MODULES.get(framework, framework)}]'"


def _chosen(asked: Sequence[str], found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every device asked for, or, if none was, the first of each kind: equal cards would only tell the same twice."""
    usable = [(str(one["kind"]), common_device_name(str(one["name"]))) for one in found if one["available"]]
    if not asked:
        firsts: dict[str, str] = {}
        for kind, name in usable:
            firsts.setdefault(kind, name)
        return list(firsts.values())
    picked = [next((name for _, name in usable if _is(device, name)), None) for device in asked]
    return list(dict.fromkeys(name for name in picked if name is not None))


def _is(asked: str, name: str) -> bool:
    """Whether ``cuda`` or ``cuda:0`` (or Paddle's ``gpu``) means this device; the only one of its kind has no index."""
    asked, name = common_device_name(asked), common_device_name(name)
    return asked in (name, name.partition(":")[0]) or asked == f"{name}:0"
