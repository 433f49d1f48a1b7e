"""The two operations of the ceilings, in PyTorch."""

from __future__ import annotations

from typing import Any, Callable

import torch

_DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class Operations:
    """Makes callables that do one operation on operands that are already there."""

    def __init__(self, device: str) -> None:
        self.device = torch.device(device)

    def unavailable(self, dtype: str) -> str:
        """Reason code why a dtype cannot be multiplied in here; empty when it can."""
        if dtype == "tf32" and self.device.type != "cuda":
            return "no_tf32_here"
        return "" if dtype in _DTYPES else "dtype_unknown"

    def gemm(self, size: int, dtype: str) -> Callable[[], Any]:
        """Return a square matrix product."""
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        a, b = (torch.randn(size, size, device=self.device).to(_DTYPES[dtype]) for _ in range(2))
        out = torch.empty_like(a)
        return lambda: torch.mm(a, b, out=out)

    def triad(self, items: int) -> Callable[[], Any]:
        """Return ``b += 0.5 * c`` on float32."""
        b, c = torch.zeros(items, device=self.device), torch.ones(items, device=self.device)
        return lambda: b.add_(c, alpha=0.5)
