"""Optimizers that update all weights in one kernel."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any

from . import NotApplicable, Outside


def apply(outside: Outside, value: Any) -> None:
    """Add the argument where an optimizer's class has it and the script does not decide it.

    Raises:
        NotApplicable: In PaddlePaddle.
    """
    if value != "on":
        return
    if outside.framework != "pytorch":
        raise NotApplicable("not_in_this_framework")
    optim = outside.module.optim
    classes: set[Any] = {one for one in vars(optim).values() if isinstance(one, type)}
    for cls in classes:
        if issubclass(cls, optim.Optimizer) and "fused" in inspect.signature(cls.__init__).parameters:
            outside.patches.set(cls, "__init__", _fusing(outside, cls.__init__))


def _fusing(outside: Outside, original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - takes the place of the class's
        asked = any(kwargs.get(name) for name in ("fused", "foreach", "differentiable"))
        if asked:
            outside.refuse("fused_optimizer", "decided_by_script")
            original(optimizer, *args, **kwargs)
            return
        try:
            original(optimizer, *args, **{**kwargs, "fused": True})
            outside.count("fused_optimizer")
            outside.undoing(functools.partial(_part, weakref.ref(optimizer), kwargs.get("fused")))
        except RuntimeError:  # parameters on a device that has no fused kernel
            outside.refuse("fused_optimizer", "no_fused_kernel")
            original(optimizer, *args, **kwargs)

    return __init__


def _part(reference: weakref.ref[Any], fused: Any) -> None:
    """Have an optimizer that lives on update its weights one after another again."""
    optimizer = reference()
    if optimizer is None:
        return
    for options in (optimizer.defaults, *optimizer.param_groups):
        options["fused"] = fused
    vars(optimizer).pop("_step_supports_amp_scaling", None)  # set by PyTorch for fused optimizers only


def seen(outside: Outside) -> Any:
    """Whether an optimizer was made so."""
    if outside.counts.get("fused_optimizer"):
        return "on"
    outside.refuse("fused_optimizer", "no_such_optimizer")
    return "off"
