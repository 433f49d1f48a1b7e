"""Threads of the operator pool: set again after the import, because the environment alone may come too late."""

from __future__ import annotations

from typing import Any

from . import Outside


def apply(outside: Outside, value: Any) -> None:
    """Set them; the script may set them again."""
    before = outside.adapter.get_threads()
    outside.adapter.set_threads(int(value))
    outside.undoing(lambda: outside.adapter.set_threads(before))


def seen(outside: Outside) -> Any:
    """Threads in force at the end."""
    return outside.adapter.get_threads()
