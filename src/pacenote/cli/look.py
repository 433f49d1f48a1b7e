"""``pacenote`` without a command: this machine in a few lines, the last run, and what to type next.

Nothing is started or imported for it: a framework counts as installed when its package can be found.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Final

MODULES: Final = {"pytorch": ("torch", "PyTorch"), "paddle": ("paddle", "PaddlePaddle")}
"""Framework → (module that is there when it is installed, name to show)."""

_SHOWN: Final = ("processor", "cores", "quota", "memory", "accelerators")


def look() -> None:
    """Print it."""
    from pacenote.cli.doctor import machine_lines
    from pacenote.cli.output import cell_text, console, print_facts
    from pacenote.cli.words import say
    from pacenote.report.locale import resolve
    from pacenote.system.machine import machine_facts

    language = resolve(None)
    out = console()
    lines = machine_lines(machine_facts(), None, language)
    kept = {say(language, f"doctor.{name}") for name in _SHOWN}
    found = [title for module, title in MODULES.values() if importlib.util.find_spec(module) is not None]
    rows = {label: value for label, value in lines.items() if label in kept}
    rows[say(language, "doctor.framework")] = ", ".join(found) or say(language, "look.no_framework")
    last = _last_run()
    if last is not None:
        rows[say(language, "look.last")] = last
    print_facts(out, rows)
    command = "pacenote run lenet" if found else "pip install 'pacenote[torch]'"
    if found and last is not None:
        command = "pacenote show last"
    out.print(f"\n{say(language, 'look.next', command=f'[bold]{command}[/]' if found else cell_text(command))}")
    out.print(say(language, "look.help"))


def _last_run() -> str | None:
    """What the newest run was; a store that cannot be read does not spoil the look, it is named on stderr."""
    from pacenote.errors import StoreError
    from pacenote.store import Store

    try:
        with Store() as store:
            newest = store.studies(1)
    except StoreError as error:
        print(f"pacenote: {error}", file=sys.stderr)
        return None
    if not newest:
        return None
    study = newest[0]
    workloads = ", ".join(sorted({cell.spec.workload for cell in study.cells}))
    return " ".join(part for part in (study.name or study.id, study.question, workloads) if part)
