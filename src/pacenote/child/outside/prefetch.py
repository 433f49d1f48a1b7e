"""Batches that each worker reads ahead."""

from __future__ import annotations

from typing import Any

from . import Outside


def apply(outside: Outside, value: Any) -> None:
    """Change it for loaders that have workers."""

    def change(arguments: dict[str, Any]) -> None:
        if arguments.get("num_workers"):
            arguments["prefetch_factor"] = int(value)
        else:
            outside.refuse("prefetch", "no_workers")

    outside.loaders.change(change)


def seen(outside: Outside) -> Any:
    """What the latest training loader had."""
    if not outside.loaders.last("loader_workers"):
        outside.refuse("prefetch", "no_workers")
        return None
    return outside.loaders.last("prefetch")
