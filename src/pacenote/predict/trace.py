"""Reads a traced step back, without a framework: which operations, how many bytes and FLOP, how much memory."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final

import msgspec

from pacenote.child.trace import SCHEMA
from pacenote.errors import DataError, SchemaError


class Facts(msgspec.Struct, frozen=True):
    """What shapes do not say about an operation."""

    gemm: tuple[int, int, int, int] | None = None
    groups: int = 1
    stride: tuple[int, ...] = ()
    transposed: bool = False
    gradients: tuple[bool, ...] = ()
    tensors: int = 1


class Operation(msgspec.Struct, frozen=True):
    """One distinct operation of the step; ``count`` says how often it runs."""

    phase: str
    name: str
    dtype: str
    count: int
    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    flop: float
    read_bytes: float
    written_bytes: float
    facts: Facts = Facts()


class Program(msgspec.Struct, frozen=True):
    """How the model is trained; see ``pacenote.child.trace.step.Program``."""

    train: bool
    dtype: str
    pure: bool = False
    layout: str = "contiguous"
    optimizer: str = "none"
    fused_optimizer: bool = False
    fused_attention: bool = True
    tf32_products: bool = False


class Trace(msgspec.Struct, frozen=True):
    """One step of one program, on no device in particular."""

    schema: int
    name: str
    framework: str
    samples: int
    program: Program
    parameters: int
    parameter_bytes: int
    buffer_bytes: int
    peak_bytes: dict[str, int]
    operations: tuple[Operation, ...]
    traced_s: float = 0.0

    @property
    def flop(self) -> float:
        """FLOP of the step in products and convolutions."""
        return sum(one.flop * one.count for one in self.operations)


LARGEST: Final = 1 << 28
"""Bytes of the largest document that is read; real ones have some 100 kB."""


def decode(document: bytes) -> Trace:
    """Read one document.

    Raises:
        SchemaError: If it was written by a newer version.
        DataError: If it is no trace, or lacks facts that a prediction needs.
    """
    try:
        trace = msgspec.json.decode(document, type=Trace)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(f"not a trace of a training step: {error}") from error
    if trace.schema > SCHEMA:
        raise SchemaError(f"the trace has schema {trace.schema}, this version reads up to {SCHEMA}; update Pacenote.")
    if not trace.operations or trace.samples < 1:
        raise DataError("the trace holds no operation, so there is nothing to predict.")
    return trace


def read(path: Path) -> Trace:
    """Read a stored trace, compressed or not."""
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            with gzip.open(path) as file:
                raw = file.read(LARGEST)
    except (OSError, EOFError) as error:
        raise DataError(f"{path}: {error}") from error
    return decode(raw)
