"""Copies to the accelerator that the program does not wait for; they are so only from page-locked memory."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import NotApplicable, Outside


def apply(outside: Outside, value: Any) -> None:
    """Add the argument to copies from the host.

    Copies to the host stay as they are: reading a value that has not arrived would change the result.

    Raises:
        NotApplicable: In PaddlePaddle, where a copy's argument is ``blocking``, or when asked for nothing.
    """
    if outside.framework != "pytorch":
        raise NotApplicable("not_in_this_framework")
    if value != "on":
        return
    torch = outside.module

    def copying(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def copy(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if tensor.device.type == "cpu" and tensor.is_pinned() and "non_blocking" not in kwargs:
                outside.count("non_blocking")
                kwargs["non_blocking"] = True
            return original(tensor, *args, **kwargs)

        return copy

    if not torch.accelerator.is_available():
        raise NotApplicable("device_is_cpu")
    for name in ("to", "cuda"):
        outside.patches.set(torch.Tensor, name, copying(getattr(torch.Tensor, name)))


def seen(outside: Outside) -> Any:
    """Whether any copy was changed; none is when nothing is pinned."""
    if outside.counts.get("non_blocking"):
        return "on"
    outside.refuse("non_blocking", "device_is_cpu" if outside.on_accelerator is False else "nothing_pinned")
    return "off"
