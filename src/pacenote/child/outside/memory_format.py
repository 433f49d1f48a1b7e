"""Channels-last layout of a root model's weights and of the images it is called with."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

from ..forwards import go_round, mapped
from . import NotApplicable, Outside


def apply(outside: Outside, value: Any) -> None:
    """Lay out the weights before the first call, and each call's images.

    Raises:
        NotApplicable: In PaddlePaddle, whose layers fix their layout when they are made.
    """
    if value != "channels_last":
        return
    if outside.framework != "pytorch":
        raise NotApplicable("not_in_this_framework")
    torch = outside.module

    def laid_out(one: Any) -> Any:
        if isinstance(one, torch.Tensor) and one.dim() == 4 and one.is_floating_point():
            return one.contiguous(memory_format=torch.channels_last)
        return one

    def around(_root: Any, inner: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return inner(*mapped(args, laid_out), **mapped(kwargs, laid_out))

    def on_root(module: Any, _device: str) -> None:
        if not any(parameter.dim() == 4 for parameter in module.parameters()):
            outside.refuse("memory_format", "no_images")
            return
        changed = [one for one in module.parameters() if one.dim() == 4 and one.is_contiguous()]
        module.to(memory_format=torch.channels_last)
        outside.undoing(functools.partial(_lay_back, [weakref.ref(one) for one in changed]))
        go_round(outside, module, around)

    outside.on_root.append(on_root)


def _lay_back(changed: list[weakref.ref[Any]]) -> None:
    for one in (reference() for reference in changed):
        if one is None:
            continue
        one.data = one.data.contiguous()
        if one.grad is not None:
            one.grad = one.grad.contiguous()


def seen(outside: Outside) -> Any:
    """Layout of the roots' four-dimensional weights at the end."""
    if outside.framework != "pytorch":
        return None
    torch = outside.module
    kernels = [one for root in outside.roots for one in root.parameters() if one.dim() == 4 and min(one.shape[1:]) > 1]
    if not kernels:
        outside.refuse("memory_format", "no_images")
        return None
    last = all(one.is_contiguous(memory_format=torch.channels_last) for one in kernels)
    return "channels_last" if last else "default"
