"""What an accelerator does and a CPU does not, put back into a trace made on the CPU."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name every PyTorch user gives it
from torch.overrides import TorchFunctionMode

IN_FP32 = frozenset(
    (
        "acos", "asin", "binary_cross_entropy_with_logits", "cosh", "cosine_similarity", "cross_entropy",
        "cumprod", "cumsum", "dist", "erfinv", "exp", "expm1", "group_norm", "l1_loss", "layer_norm", "log",
        "log10", "log1p", "log2", "log_softmax", "logsumexp", "mse_loss", "nll_loss", "norm", "pow", "prod",
        "reciprocal", "renorm", "rsqrt", "sinh", "smooth_l1_loss", "softmax", "softmin", "softplus", "sum",
        "tan",
    )
)  # fmt: skip
"""Functions that CUDA autocast runs in fp32 and CPU autocast does not (PyTorch, "CUDA Ops that can autocast to
float32"): each costs a conversion kernel."""

HALF = (torch.float16, torch.bfloat16)


class AcceleratorWays(TorchFunctionMode):  # type: ignore[misc]  # torch is not seen by the type checker
    """Adds CUDA's conversions to fp32, its one-kernel dropout and its fused attention.

    Args:
        fused_attention: Whether ``scaled_dot_product_attention`` is one kernel on the target.
    """

    def __init__(self, fused_attention: bool = True) -> None:
        super().__init__()
        self.fused_attention = fused_attention

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(function, "__name__", "").lstrip("_")
        if function is F.dropout:
            return _dropout(args, kwargs)
        if function is F.scaled_dot_product_attention:
            return self._attention(function, args, kwargs)
        if name in IN_FP32 and torch.is_autocast_enabled("cpu"):
            args = tuple(_widened(value) for value in args)
            kwargs = {key: _widened(value) for key, value in kwargs.items()}
        return function(*args, **kwargs)

    def _attention(self, function: Any, args: Any, kwargs: Any) -> Any:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        if not self.fused_attention:
            with sdpa_kernel(SDPBackend.MATH):
                return function(*args, **kwargs)
        # With dropout the CPU has no fused kernel; CUDA drops inside the kernel, at no traffic.
        kwargs.pop("dropout_p", None)
        return function(*args[:4], **kwargs)


def _dropout(args: Any, kwargs: Any) -> Any:
    """One kernel and a mask of one byte an element, where the CPU would run four."""
    given = dict(zip(("input", "p", "training", "inplace"), args))
    given.update(kwargs)
    share = given.get("p", 0.5)
    if not given.get("training", True) or share == 0:
        return given["input"]
    return torch.native_dropout(given["input"], share, True)[0]


def _widened(value: Any) -> Any:
    return value.float() if isinstance(value, torch.Tensor) and value.dtype in HALF else value
