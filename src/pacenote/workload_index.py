"""Every workload there is: the built-in ones, and those of installed third parties.

A third party names a *file* through the entry-point group ``pacenote.workloads``: the child loads that file, also
inside an interpreter in which neither Pacenote nor the third party is installed (``--python``). The file holds
``WORKLOAD``; importing it needs the standard library only.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from pacenote.child import workloads
from pacenote.errors import UnknownNameError

GROUP: Final = "pacenote.workloads"


def names() -> tuple[str, ...]:
    """Every known name, sorted."""
    return tuple(sorted({*workloads.names(), *_third_party()[0]}))


def find(name: str) -> workloads.Workload:
    """Return the workload called ``name``.

    Raises:
        UnknownNameError: If there is none; the message lists the known names.
    """
    if name not in names():
        raise UnknownNameError("workload", name, names())
    return workloads.find(name, file_of(name))


def file_of(name: str) -> str | None:
    """The file a child must load for this workload; ``None`` for a built-in one, which it has."""
    return _third_party()[0].get(name)


def warnings() -> tuple[str, ...]:
    """Third-party workloads that were left out, and why."""
    return _third_party()[1]


@cache
def _third_party() -> tuple[dict[str, str], tuple[str, ...]]:
    """Name → file, and the warnings; looked up once per process."""
    files: dict[str, str] = {}
    left_out: list[str] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda found: found.name):
        reason = "that name is taken" if entry.name in files or entry.name in workloads.names() else ""
        file = None if reason else _file(entry)
        if file is not None:
            try:
                workloads.find(entry.name, file)
            except Exception as error:  # noqa: BLE001 - whatever a plug-in raises must not stop the tool
                reason = f"{type(error).__name__}: {error}"
            else:
                files[entry.name] = file
                continue
        left_out.append(f"workload plug-in {entry.name!r} was left out: {reason or f'no file {entry.value!r}'}")
    return files, tuple(left_out)


def _file(entry: EntryPoint) -> str | None:
    """The file of the module that an entry point names; the module itself is not imported."""
    try:
        spec = importlib.util.find_spec(entry.value.partition(":")[0])
    except ImportError:
        return None
    return None if spec is None else spec.origin
