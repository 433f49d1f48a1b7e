"""Threads of the operator pool: set again after the import, because the environment alone may come too late."""

from __future__ import annotations

from typing import Any

from . import Outside


def apply(outside: Outside, value: Any) -> None:
    """Set them; the script may set them again."""
    outside.adapter.set_threads(int(value))


def seen(outside: Outside) -> Any:
    """Threads in force at the end."""
    return outside.adapter.get_threads()
