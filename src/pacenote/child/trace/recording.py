"""Writes down every operation that reaches the dispatcher, and follows which storage is alive."""

from __future__ import annotations

import json
import weakref
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from . import PHASES, flop

BLOCK_BYTES = 512
"""The caching allocator hands out multiples of this (PyTorch, c10/cuda/CUDACachingAllocator.cpp, kMinBlockSize)."""

FREE = frozenset(
    [
        "_unsafe_view",
        "detach",
        "lift_fresh",
        "alias",
        "_reshape_alias",
        "empty",
        "empty_like",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
        "_local_scalar_dense",
        "item",
        "is_same_size",
        "sym_size",
        "device",
        "_record_function_enter_new",
        "_record_function_exit",
        "is_pinned",
        "record_stream",
        "set_",
        "resize_",
    ]
)
"""Operations that start no kernel."""

ONLY_WRITES = frozenset(
    [
        "zero_",
        "fill_",
        "zeros",
        "zeros_like",
        "ones",
        "ones_like",
        "full",
        "full_like",
        "new_zeros",
        "new_full",
        "arange",
    ]
)
LOOKS_UP = frozenset(["embedding", "index_select", "gather", "index"])
SHORT_DTYPES = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64"}


class Recorder(TorchDispatchMode):  # type: ignore[misc]  # torch is not seen by the type checker
    """Counts operations and live bytes of one phase at a time.

    Attributes:
        phase: Where operations are booked; ``None`` while nothing is to be booked.
        peak_bytes: Phase → most bytes alive at once, storage only.
        live_bytes: Bytes alive now.
    """

    def __init__(self) -> None:
        super().__init__()
        self.phase: str | None = None
        self.live_bytes = 0
        self.peak_bytes = dict.fromkeys(PHASES, 0)
        self._live: dict[int, int] = {}
        self._operations: dict[str, dict[str, Any]] = {}

    def start(self, phase: str | None) -> None:
        """Book what follows under ``phase``; its peak begins with what is alive now."""
        self.phase = phase
        if phase is not None:
            self.peak_bytes[phase] = max(self.peak_bytes[phase], self.live_bytes)

    def forget(self) -> None:
        """Drop what was booked; what is alive stays alive."""
        self._operations.clear()
        self.peak_bytes = dict.fromkeys(PHASES, 0)

    def operations(self) -> list[dict[str, Any]]:
        """Each distinct operation, in order of first appearance."""
        return list(self._operations.values())

    def follow(self, tensor: Any) -> None:
        """Count the storage of ``tensor`` until nothing refers to it."""
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if key in self._live or size == 0:
            return
        held = -(-size // BLOCK_BYTES) * BLOCK_BYTES
        self._live[key] = held
        self.live_bytes += held
        if self.phase is not None:
            self.peak_bytes[self.phase] = max(self.peak_bytes[self.phase], self.live_bytes)
        weakref.finalize(storage, self._gone, key)

    def _gone(self, key: int) -> None:
        self.live_bytes -= self._live.pop(key, 0)

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        outputs = [leaf for leaf in tree_flatten(result)[0] if isinstance(leaf, torch.Tensor)]
        for tensor in outputs:
            self.follow(tensor)
        namespace, _, name = function._schema.name.partition("::")
        if self.phase is None or function.is_view or name in FREE or namespace == "prim":
            return result
        inputs = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, torch.Tensor)]
        self._book(name, args, inputs, outputs)
        return result

    def _book(self, name: str, arguments: Any, inputs: list[Any], outputs: list[Any]) -> None:
        if name.startswith(("_foreach", "_fused")):
            entry = _many(name, arguments, inputs, outputs)
        else:
            entry = _one(name, arguments, inputs, outputs)
        entry["phase"] = self.phase
        key = json.dumps(entry, sort_keys=True)
        kept = self._operations.setdefault(key, {**entry, "count": 0})
        kept["count"] += 1


def _one(name: str, arguments: Any, inputs: list[Any], outputs: list[Any]) -> dict[str, Any]:
    shapes, made = [list(tensor.shape) for tensor in inputs], [list(tensor.shape) for tensor in outputs]
    amount, facts = flop.of(name, shapes, made, arguments)
    read = sum(_bytes(tensor) for tensor in {id(tensor): tensor for tensor in inputs}.values())
    written = sum(_bytes(tensor) for tensor in outputs)
    if name in LOOKS_UP:
        read = min(read, 2 * written)  # the rows that are asked for, not the table
    if name in ONLY_WRITES:
        read, written = 0, written or read
    leading = outputs[0] if outputs else inputs[0] if inputs else None
    lean = name in flop.PRODUCTS or name in flop.CONVOLUTIONS or name == "convolution_backward" or amount > 0
    return {
        "name": name,
        "dtype": "none" if leading is None else _dtype(leading),
        # Shapes matter where there are products; elsewhere bytes say everything and the record stays small.
        "inputs": shapes[:3] if lean else shapes[:1],
        "outputs": made[:1],
        "flop": amount,
        "read_bytes": read,
        "written_bytes": written,
        **({"facts": facts} if facts else {}),
    }


def _many(name: str, arguments: Any, inputs: list[Any], outputs: list[Any]) -> dict[str, Any]:
    """One operation over a list of tensors, as the multi-tensor optimizer runs it."""
    first = arguments[0]
    written = sum(_bytes(tensor) for tensor in (outputs or first))
    if not outputs and name.startswith("_fused"):
        # parameters and states are updated in place, gradients are only read
        written = sum(_bytes(tensor) for part in (0, 2, 3) for tensor in arguments[part])
    return {
        "name": name,
        "dtype": _dtype(first[0]) if first else "none",
        "inputs": [],
        "outputs": [],
        "flop": 0.0,
        "read_bytes": sum(_bytes(tensor) for tensor in inputs),
        "written_bytes": written,
        "facts": {"tensors": len(first)},
    }


def _bytes(tensor: Any) -> int:
    """Bytes that are moved: an expanded tensor is no larger than its storage."""
    return int(min(tensor.numel() * tensor.element_size(), tensor.untyped_storage().nbytes()))


def _dtype(tensor: Any) -> str:
    name = str(tensor.dtype).partition(".")[2]
    return SHORT_DTYPES.get(name, name)
