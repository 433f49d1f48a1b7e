"""The two operations of the ceilings, in PyTorch on the CPU: they compute what their rates are said to be of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.torch


@pytest.fixture
def operations() -> Iterator[Any]:
    torch = pytest.importorskip("torch")
    from pacenote.child.ceilings_pytorch import Operations

    allowed = torch.backends.cuda.matmul.allow_tf32
    yield Operations("cpu")
    torch.backends.cuda.matmul.allow_tf32 = allowed


@pytest.mark.parametrize(
    ("dtype", "reason"),
    [
        ("fp32", ""),
        ("bf16", ""),
        ("fp16", ""),
        ("tf32", "no_tf32_here"),
        ("fp8", "dtype_unknown"),
        ("", "dtype_unknown"),
    ],
)
def test_a_dtype_that_cannot_be_multiplied_in_has_a_reason(operations: Any, dtype: str, reason: str) -> None:
    assert operations.unavailable(dtype) == reason


def test_a_gpu_has_tf32(operations: Any) -> None:
    import torch

    operations.device = torch.device("cuda:0")  # asking needs no GPU
    assert operations.unavailable("tf32") == ""


@pytest.mark.parametrize(("dtype", "name"), [("fp32", "float32"), ("bf16", "bfloat16")])
def test_the_product_is_square_and_of_the_dtype_asked(operations: Any, dtype: str, name: str) -> None:
    import torch

    multiply = operations.gemm(16, dtype)
    product = multiply()
    assert product.shape == (16, 16)
    assert product.dtype == getattr(torch, name)
    assert torch.equal(product, multiply()), "the operands stay as they are"


@pytest.mark.parametrize(("dtype", "allowed"), [("tf32", True), ("fp32", False)])
def test_tf32_is_allowed_only_for_its_own_ceiling(operations: Any, dtype: str, allowed: bool) -> None:
    import torch

    operations.gemm(2, dtype)
    assert torch.backends.cuda.matmul.allow_tf32 is allowed


def test_the_triad_adds_in_place(operations: Any) -> None:
    step = operations.triad(100)
    step()
    moved = step()
    assert moved.shape == (100,)
    assert moved.tolist() == [1.0] * 100
