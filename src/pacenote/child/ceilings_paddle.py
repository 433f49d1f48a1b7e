"""The two operations of the ceilings, in PaddlePaddle."""

from __future__ import annotations

from typing import Any, Callable

import paddle

_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


class Operations:
    """Makes callables that do one operation on operands that are already there."""

    def __init__(self, device: str) -> None:
        paddle.set_device(device)
        self.on_cpu = device == "cpu"

    def unavailable(self, dtype: str) -> str:
        """Reason code why a dtype cannot be multiplied in here; empty when it can.

        On the CPU ``auto_cast`` has no effect (seen with 3.3.1), so training never runs in less than fp32 there and
        another ceiling would be one that nothing is measured against.
        """
        if dtype == "tf32":
            return "no_tf32_switch"
        if self.on_cpu and dtype != "fp32":
            return "paddle_cpu_fp32_only"
        return "" if dtype in _DTYPES else "dtype_unknown"

    def gemm(self, size: int, dtype: str) -> Callable[[], Any]:
        """Return a square matrix product."""
        a, b = (paddle.randn([size, size]).astype(_DTYPES[dtype]) for _ in range(2))
        return lambda: paddle.matmul(a, b)

    def triad(self, items: int) -> Callable[[], Any]:
        """Return ``b += c`` on float32: the traffic of a triad."""
        b, c = paddle.zeros([items]), paddle.ones([items])
        return lambda: b.add_(c)
