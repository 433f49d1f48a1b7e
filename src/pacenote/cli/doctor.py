"""Say what this machine and its frameworks can be measured with, and why not.

Three answers per device: can the framework's build use it, is its driver there, is a device there. Sensors that are
missing are named with the reason; nothing is estimated in their place.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pacenote.cli.options import Json, Lang, Python

if TYPE_CHECKING:
    from rich.console import Console

PACKAGES: Final = {"pytorch": "pacenote[torch]", "paddle": "pacenote[paddle]"}
"""Framework → what installs it together with Pacenote."""

_TITLES: Final = {"pytorch": "PyTorch", "paddle": "PaddlePaddle"}


def command(python: Python = None, as_json: Json = False, lang: Lang = None) -> None:
    """Examine and show."""
    from pacenote.cli.output import print_json
    from pacenote.report.locale import resolve
    from pacenote.system.doctor import examine

    language = resolve(lang)
    found = examine(python)
    found["ceilings"] = _ceilings()
    found["plugin_warnings"] = plugin_warnings()
    if as_json:
        print_json(found)
    else:
        _print(found, language)


def plugin_warnings() -> list[str]:
    """Parts of third parties that could not be loaded, each with its name and reason."""
    from pacenote import workload_index
    from pacenote.findings.health import CHECKS
    from pacenote.levers import LEVERS
    from pacenote.report.sections import SECTIONS

    found = list(workload_index.warnings())
    for registry in (LEVERS, CHECKS, SECTIONS):
        registry.names()  # loads them
        found += registry.warnings
    return found


def _ceilings() -> list[dict[str, Any]]:
    """What earlier runs measured; a store that cannot be read is no reason not to examine the machine."""
    from pacenote.errors import StoreError
    from pacenote.store import Store

    try:
        with Store() as store:
            return store.calibrations()
    except StoreError as error:
        print(f"pacenote: {error}", file=sys.stderr)
        return []


def _print(found: Mapping[str, Any], language: str) -> None:
    from pacenote.cli.output import console, print_facts
    from pacenote.cli.words import say

    out = console()
    parts = {
        "machine": machine_lines(found["machine"], found["threads_default"], language),
        "now": _now_lines(found["now"], language),
    }
    for name, lines in parts.items():
        out.print(f"[bold]{say(language, f'doctor.{name}')}[/]")
        print_facts(out, lines, "  ")
        out.print()
    out.print(f"[bold]{say(language, 'doctor.frameworks')}[/]")
    _print_frameworks(out, found["frameworks"], language)
    out.print(f"[bold]{say(language, 'doctor.sensors')}[/]")
    _print_sensors(out, found["sensors"], language)
    out.print(f"\n[bold]{say(language, 'doctor.ceilings')}[/]")
    _print_ceilings(out, found["ceilings"], language)
    out.print(f"\n[bold]{say(language, 'doctor.next')}[/]")
    for line in [*found["plugin_warnings"], *advice(found, language)]:
        out.print(f"  {line}", markup=False)


def machine_lines(machine: Mapping[str, Any], threads: int | None, language: str) -> dict[str, str]:
    """Describe the machine: label → text; what is unknown is a question mark."""
    from pacenote import units
    from pacenote.cli.words import say
    from pacenote.report.locale import text

    unknown = say(language, "unknown")
    quota = say(language, "doctor.quota_none")
    if machine.get("quota_cpus") is not None:
        quota = say(language, "doctor.quota_value", cpus=machine["quota_cpus"], version=machine.get("cgroup_version"))
    names = [str(device.get("name")) for device in machine.get("accelerators") or []]
    absent = text(language, f"reason.{machine.get('accelerators_reason') or 'no_accelerator'}")
    virtual = f" ({say(language, 'doctor.virtual')})" if machine.get("virtual") else ""
    cores = {
        "physical": machine.get("physical_cores") or unknown,
        "logical": machine.get("logical_cpus") or unknown,
        "affinity": machine.get("affinity_cpus") or unknown,
    }
    sizes = {
        "total": _size(machine.get("memory_limit_bytes") or machine.get("memory_total_bytes"), unknown),
        "swap": units.size(machine["swap_total_bytes"]) if machine.get("swap_total_bytes") is not None else unknown,
    }
    values = {
        "processor": f"{machine.get('cpu_model') or unknown}{virtual}",
        "cores": say(language, "doctor.cores_value", **cores),
        "quota": quota,
        "threads": str(threads or unknown),
        "instructions": " ".join(machine.get("cpu_flags") or []) or unknown,
        "memory": say(language, "doctor.memory_value", **sizes),
        "accelerators": ", ".join(names) or absent,
        "system": f"{machine.get('os')} {machine.get('os_version')} {machine.get('architecture')}",
    }
    return {say(language, f"doctor.{name}"): value for name, value in values.items()}


def advice(found: Mapping[str, Any], language: str) -> list[str]:
    """What to type next."""
    from pacenote.cli.words import say

    answers = found["frameworks"]
    lines = [
        say(
            language,
            "doctor.install",
            framework=_TITLES.get(name, name),
            python=found["python"],
            package=PACKAGES.get(name, name),
        )
        for name, answer in sorted(answers.items())
        if not answer.get("installed")
    ]
    usable = {
        device["kind"] for answer in answers.values() for device in answer.get("devices", []) if device["available"]
    }
    if usable == {"cpu"}:
        lines.append(say(language, "doctor.one_device"))
    if usable:
        lines.append(say(language, "doctor.first"))
    return lines


def _size(value_bytes: float | None, unknown: str) -> str:
    from pacenote import units

    return unknown if value_bytes is None else units.size(value_bytes)


def _now_lines(now: Mapping[str, Any], language: str) -> dict[str, str]:
    from pacenote import units
    from pacenote.cli.words import say

    unknown = say(language, "unknown")
    share = now.get("pressure_cpu_share")
    load = {
        "running": _shown(now.get("running_tasks"), unknown),
        "cpus": _shown(now.get("affinity_cpus"), unknown),
        "load": _shown(now.get("load_1min"), unknown),
    }
    return {
        say(language, "doctor.load"): say(language, "doctor.load_value", **load),
        say(language, "doctor.pressure"): unknown if share is None else units.percent(share),
        say(language, "doctor.available"): _size(now.get("memory_available_bytes"), unknown),
    }


def _shown(value: object, unknown: str) -> str:
    return unknown if value is None else str(value)


def _print_frameworks(out: Console, answers: Mapping[str, Any], language: str) -> None:
    from pacenote.cli.output import cell_text, plain_table
    from pacenote.cli.words import say
    from pacenote.report.locale import text

    titles = ("framework", "device", "build", "driver", "present", "why")
    table = plain_table(*(say(language, f"doctor.{title}") for title in titles))
    for name, answer in sorted(answers.items()):
        title = _TITLES.get(name, name)
        if not answer.get("installed"):
            why = text(language, f"reason.{answer.get('reason') or 'not_installed'}")
            detail = f"{why}: {answer['text']}" if answer.get("text") else why
            table.add_row(title, "", "", "", say(language, "no"), cell_text(detail))
            continue
        shown = f"{title} {answer['facts'].get('version', '')}"
        for device in answer["devices"]:
            marks = (_mark(language, device.get(key)) for key in ("build", "driver", "available"))
            why = "" if device["available"] else text(language, f"reason.{device['reason']}")
            table.add_row(cell_text(shown), device["name"], *marks, why)
            shown = ""
    out.print(table)


def _mark(language: str, answer: object) -> str:
    from pacenote.cli.words import say

    if answer is None:
        return ""
    return f"[green]{say(language, 'yes')}[/]" if answer else say(language, "no")


def _print_sensors(out: Console, sensors: Mapping[str, Mapping[str, Any]], language: str) -> None:
    """One line of what can be measured, and one line for each reason why something cannot."""
    from pacenote.cli.words import say
    from pacenote.report.locale import text

    missing: dict[str, list[str]] = {}
    for name, answer in sensors.items():
        if not answer["available"]:
            missing.setdefault(str(answer["reason"]), []).append(name)
    can = [name for name, answer in sensors.items() if answer["available"]]
    out.print(f"  [green]{', '.join(can)}[/]", soft_wrap=True)
    for reason, names in missing.items():
        out.print(f"  {say(language, 'doctor.missing', reason=text(language, f'reason.{reason}'))}", soft_wrap=True)
        out.print(f"    {', '.join(names)}", soft_wrap=True)


def _print_ceilings(out: Console, ceilings: list[dict[str, Any]], language: str) -> None:
    from pacenote.cli.output import cell_text
    from pacenote.cli.words import say
    from pacenote.report.figures import figure, unit_of

    if not ceilings:
        out.print(f"  {say(language, 'doctor.no_ceilings')}")
    for kept in ceilings:
        figures = _numbers(kept["ceilings"])
        shown = ", ".join(f"{name} {figure(value, unit_of(name.partition('.')[0]))}" for name, value in figures)
        # The first part of the key is a hash of the machine; the rest says what was measured.
        where = " ".join(str(kept["key"]).split("/")[1:]) or kept["key"]
        out.print(f"  {cell_text(where)}: {shown}", soft_wrap=True)


def _numbers(ceilings: Mapping[str, Any], before: str = "") -> list[tuple[str, float]]:
    """The figures of a calibration with their names, nested ones joined by a dot; facts of the framework are none."""
    found: list[tuple[str, float]] = []
    for name, value in ceilings.items():
        if name == "framework":
            continue
        if isinstance(value, Mapping):
            found.extend(_numbers(value, f"{before}{name}."))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found.append((f"{before}{name}", float(value)))
    return found
