"""Precision of the model's arithmetic: autocast round its forward pass, or the switch for TF32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..forwards import go_round, mapped
from . import NotApplicable, Outside


def apply(outside: Outside, value: Any) -> None:
    """Autocast each root's forward to bf16 and give its results back in fp32, so that a loss is computed as before.

    Raises:
        NotApplicable: For TF32 where there is none, and for fp16, which trains only with a loss that is scaled.
    """
    if value == "fp32":
        return
    if value == "fp16":
        raise NotApplicable("needs_loss_scaling")
    if value == "tf32":
        _switch_tf32(outside)
        return
    outside.on_root.append(lambda module, device: go_round(outside, module, _casting(outside, device)))


def _switch_tf32(outside: Outside) -> None:
    if outside.framework != "pytorch" or not outside.module.cuda.is_available():
        raise NotApplicable("device_is_cpu")
    for switch in (outside.module.backends.cuda.matmul, outside.module.backends.cudnn):
        _set(outside, switch)


def _set(outside: Outside, switch: Any) -> None:
    before = switch.allow_tf32
    switch.allow_tf32 = True
    outside.undoing(lambda: setattr(switch, "allow_tf32", before))


def _casting(outside: Outside, device: str) -> Callable[..., Any]:
    framework, module = outside.framework, outside.module
    kind = device.partition(":")[0]

    def around(_root: Any, inner: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        outside.count("dtype")
        if framework == "pytorch":
            with module.autocast(kind, dtype=module.bfloat16):
                result = inner(*args, **kwargs)
            return mapped(result, lambda one: one.float() if _is_half(module, one) else one)
        with module.amp.auto_cast(dtype="bfloat16"):
            result = inner(*args, **kwargs)
        return mapped(result, lambda one: one.astype("float32") if _is_half(module, one) else one)

    return around


def _is_half(module: Any, value: Any) -> bool:
    return isinstance(value, module.Tensor) and value.dtype in (module.bfloat16, module.float16)


def seen(outside: Outside) -> Any:
    """What was in force for the roots' forward passes."""
    if outside.counts.get("dtype"):
        return "bf16"
    if outside.framework == "pytorch" and outside.module.cuda.is_available():
        return "tf32" if outside.module.backends.cuda.matmul.allow_tf32 else "fp32"
    return "fp32"
