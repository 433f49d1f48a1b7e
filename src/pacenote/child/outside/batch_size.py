"""Batch size of the loader that is trained from; what is learnt changes with it."""

from __future__ import annotations

from typing import Any

from ..loader_arguments import is_training
from . import Outside


def apply(outside: Outside, value: Any) -> None:
    """Change it in the arguments, or in the batch sampler that the script made itself."""

    def change(arguments: dict[str, Any]) -> None:
        if not is_training(arguments):
            return
        sampler = arguments.get("batch_sampler")
        if sampler is None:
            arguments["batch_size"] = int(value)
        elif isinstance(getattr(sampler, "batch_size", None), int):
            sampler.batch_size = int(value)
        else:
            outside.refuse("batch_size", "own_batch_sampler")

    outside.loaders.change(change)


def seen(outside: Outside) -> Any:
    """Batch size of the latest training loader that was iterated."""
    value = outside.loaders.last("batch_size")
    if value is None:
        outside.refuse("batch_size", "no_training_loader")
    return value
