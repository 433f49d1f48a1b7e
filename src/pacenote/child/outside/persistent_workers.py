"""Whether workers live on from one epoch to the next."""

from __future__ import annotations

from typing import Any

from . import Outside


def apply(outside: Outside, value: Any) -> None:
    """Change it for loaders that have workers."""

    def change(arguments: dict[str, Any]) -> None:
        if arguments.get("num_workers"):
            arguments["persistent_workers"] = value == "on"
        else:
            outside.refuse("persistent_workers", "no_workers")

    outside.loaders.change(change)


def seen(outside: Outside) -> Any:
    """What the latest training loader had."""
    if not outside.loaders.last("loader_workers"):
        outside.refuse("persistent_workers", "no_workers")
        return None
    value = outside.loaders.last("persistent_workers")
    return {True: "on", False: "off"}.get(value)
