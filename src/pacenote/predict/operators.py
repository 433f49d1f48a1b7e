"""Sorts the operations of a trace into kinds, as columns that the formula computes with."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pacenote.child.trace.flop import CONVOLUTIONS, PRODUCTS
from pacenote.predict.trace import Operation, Trace

Array = npt.NDArray[Any]

KINDS: Final = (
    "gemm",
    "conv",
    "conv_grouped",
    "conv_depthwise",
    "attention",
    "elementwise",
    "norm",
    "softmax",
    "pool",
    "copy",
    "lookup",
    "optimizer",
)
NUMBER: Final = {kind: number for number, kind in enumerate(KINDS)}

_COPIES: Final = frozenset(
    [
        "clone",
        "_to_copy",
        "copy_",
        "cat",
        "stack",
        "constant_pad_nd",
        "roll",
        "slice_backward",
        "select_backward",
        "pixel_shuffle",
        "flip",
        "repeat",
        "as_strided_scatter",
        "unfold_backward",
        "im2col",
        "col2im",
        "tril",
        "triu",
        "masked_fill",
    ]
)
_LOOKUPS: Final = frozenset(
    [
        "embedding",
        "embedding_dense_backward",
        "index",
        "index_put",
        "_index_put_impl_",
        "index_put_",
        "index_select",
        "gather",
        "scatter",
        "scatter_add",
        "nll_loss_forward",
        "nll_loss_backward",
        "index_add",
        "index_add_",
        "_unsafe_index",
        "_unsafe_index_put",
    ]
)
HALF: Final = ("fp16", "bf16")
SIZES: Final = {"fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8}
TENSORS_A_LAUNCH: Final = 40
"""Tensors one multi-tensor kernel takes (PyTorch, MultiTensorApply.cuh: the pointers must fit its arguments)."""

COLUMNS: Final = (
    "kind", "count", "flop", "bytes", "io", "batch", "m", "n", "k", "half", "fp16", "backward", "weight_gradient",
    "three", "launches",
)  # fmt: skip


def columns(trace: Trace) -> dict[str, Array]:
    """One row an operation, a column each of ``COLUMNS``."""
    rows = [row for operation in trace.operations for row in _rows(operation)]
    return {name: np.array([row.get(name, 0.0) for row in rows], dtype=float) for name in COLUMNS}


def _rows(operation: Operation) -> list[dict[str, float]]:
    if operation.name in CONVOLUTIONS:
        return [_convolution(operation)]
    if operation.name == "convolution_backward":
        return _gradients(operation)
    row = _base(operation, _kind(operation))
    if operation.facts.gemm is not None:
        row.update(zip(("batch", "m", "n", "k"), map(float, operation.facts.gemm), strict=True))
    if "batch_norm" in operation.name and operation.name != "_native_batch_norm_legit_no_training":
        row["bytes"] += operation.read_bytes  # statistics first, then the result: the input is read twice
    return [row]


def _kind(operation: Operation) -> str:
    name = operation.name
    if name.startswith(("_foreach", "_fused")):
        return "optimizer"
    if operation.facts.gemm is not None or name in PRODUCTS:
        return "gemm"
    if "scaled_dot_product" in name:
        return "attention"
    if "_norm" in name and "vector" not in name and "foreach" not in name:
        return "norm"
    if "softmax" in name:
        return "softmax"
    if "pool" in name or "upsample" in name:
        return "pool"
    if name in _COPIES:
        return "copy"
    return "lookup" if name in _LOOKUPS else "elementwise"


def _base(operation: Operation, kind: str) -> dict[str, float]:
    launches = math.ceil(operation.facts.tensors / TENSORS_A_LAUNCH) if kind == "optimizer" else 1
    return {
        "kind": NUMBER[kind],
        "count": operation.count,
        "flop": operation.flop,
        "bytes": operation.read_bytes + operation.written_bytes,
        "batch": 1.0,
        "m": 1.0,
        "n": 1.0,
        "k": 1.0,
        "half": float(operation.dtype in HALF),
        "fp16": float(operation.dtype == "fp16"),
        "backward": float(operation.phase == "backward"),
        "launches": launches,
    }


def _convolution_kind(groups: int, channels: int) -> str:
    """``channels`` are those of one group."""
    return "conv" if groups == 1 else "conv_depthwise" if channels == 1 else "conv_grouped"


def _geometry(operation: Operation, inputs: tuple[int, ...], weight: tuple[int, ...]) -> tuple[int, int, int]:
    """Output channels and input channels of one group, and the positions of the kernel."""
    groups = operation.facts.groups
    out, into = weight[0] // groups, weight[1]
    return (into, out, math.prod(weight[2:])) if operation.facts.transposed else (out, into, math.prod(weight[2:]))


def _three(operation: Operation, weight: tuple[int, ...]) -> float:
    """Whether a Winograd algorithm exists for it: 3 × 3 at stride 1 (Lavin and Gray 2016)."""
    return float(tuple(weight[2:]) == (3, 3) and set(operation.facts.stride) <= {1})


def _convolution(operation: Operation) -> dict[str, float]:
    inputs, weight = operation.inputs[:2]
    outputs = operation.outputs[0]
    out, into, kernel = _geometry(operation, inputs, weight)
    row = _base(operation, _convolution_kind(operation.facts.groups, into))
    size = SIZES.get(operation.dtype, 4)
    places = outputs[0] * math.prod(outputs[2:])
    row.update(batch=operation.facts.groups, m=places, n=out, k=into * kernel, three=_three(operation, weight))
    row["io"] = size * (math.prod(inputs) + math.prod(outputs))
    return row


def _gradients(operation: Operation) -> list[dict[str, float]]:
    """The gradients of input and weight are two products of different shapes."""
    gradient, inputs, weight = operation.inputs[:3]
    out, into, kernel = _geometry(operation, inputs, weight)
    groups, size = operation.facts.groups, SIZES.get(operation.dtype, 4)
    wanted = operation.facts.gradients
    base = _base(operation, _convolution_kind(groups, into))
    base["flop"] = operation.flop / max(1, sum(wanted[:2]))
    base["io"] = size * (math.prod(inputs) + math.prod(gradient))
    base["bytes"] = base["io"] + size * math.prod(weight)
    base.update(batch=groups, three=_three(operation, weight))
    places_in, places_out = inputs[0] * math.prod(inputs[2:]), gradient[0] * math.prod(gradient[2:])
    rows = []
    if wanted[0]:
        k = max(1.0, out * kernel * places_out / places_in)
        rows.append({**base, "m": places_in, "n": into, "k": k})
    if wanted[1]:
        rows.append({**base, "m": out, "n": into * kernel, "k": places_out, "weight_gradient": 1.0})
    if len(wanted) > 2 and wanted[2]:
        rows.append({**_base(operation, "elementwise"), "flop": 0.0, "bytes": float(size * math.prod(gradient))})
    return rows
