"""Batches in page-locked memory, from which an accelerator copies without the CPU."""

from __future__ import annotations

from typing import Any

from . import NotApplicable, Outside


def apply(outside: Outside, value: Any) -> None:
    """Change it for every loader.

    Raises:
        NotApplicable: In PaddlePaddle, whose loaders decide it themselves.
    """
    if outside.framework != "pytorch":
        raise NotApplicable("not_in_this_framework")

    def change(arguments: dict[str, Any]) -> None:
        arguments["pin_memory"] = value == "on"

    outside.loaders.change(change)


def seen(outside: Outside) -> Any:
    """Whether the latest training loader pins; without an accelerator PyTorch ignores the wish."""
    if outside.on_accelerator is False:
        outside.refuse("pin_memory", "device_is_cpu")
        return None
    value = outside.loaders.last("pin_memory")
    return {True: "on", False: "off"}.get(value)
