"""Worker processes of every loader over a data set that can be indexed."""

from __future__ import annotations

from typing import Any

from ..loader_arguments import iterates
from . import Outside


def apply(outside: Outside, value: Any) -> None:
    """Change the number, and leave out what only goes with workers when there are none."""

    def change(arguments: dict[str, Any]) -> None:
        if iterates(arguments.get("dataset")):
            outside.refuse("loader_workers", "iterable_dataset")
            return
        arguments["num_workers"] = int(value)
        if not int(value):
            for name in ("prefetch_factor", "persistent_workers", "timeout"):
                arguments.pop(name, None)

    outside.loaders.change(change)


def seen(outside: Outside) -> Any:
    """Workers that the latest training loader really had."""
    value = outside.loaders.last("loader_workers")
    if value is None:
        outside.refuse("loader_workers", "no_training_loader")
    return value
