"""Half precision without scaling the loss: small gradients become zero.

FP16 has no number between 0 and 6e-8; "Mixed Precision Training" (Micikevicius et al. 2018, section 3.2) shows the
share of gradients that are lost without scaling. BF16 has the range of FP32 and needs none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pacenote.source.rules import Rule
from pacenote.source.text import Source, Spot, keyword


def check(source: Source) -> Iterator[Spot]:
    """Autocast to FP16 in a script that calls ``backward`` and has no scaler; once."""
    if source.mentions("GradScaler", "ShardedGradScaler", "loss_scal") or not _trains(source):
        return
    for call in source.calls():
        if _is_half(source, call):
            yield Spot(call.lineno)
            return


def _trains(source: Source) -> bool:
    return any(source.called(call) == "backward" for call in source.calls())


def _is_half(source: Source, call: ast.Call) -> bool:
    """Whether a call turns autocast to FP16 on: by name, or by being CUDA's, whose default it is."""
    name = source.name(call.func)
    known = name.endswith(("amp.autocast", "amp.auto_cast", "torch.autocast", "cuda.amp.autocast"))
    if not known or _is_off(call):
        return False
    dtype = keyword(call, "dtype") or next((one for one in call.args[1:2]), None)
    if dtype is not None:
        return "float16" in ast.unparse(dtype) and "bfloat16" not in ast.unparse(dtype)
    device = keyword(call, "device_type") or next(iter(call.args), None)
    if isinstance(device, ast.Constant) and device.value in ("cpu", "xpu"):
        return False
    return "cuda" in name or "auto_cast" in name or (isinstance(device, ast.Constant) and device.value == "cuda")


def _is_off(call: ast.Call) -> bool:
    for name in ("enabled", "enable"):
        value = keyword(call, name)
        if isinstance(value, ast.Constant) and value.value is False:
            return True
    return False


PART = Rule(name="autocast_without_scaler", check=check)
