"""The event log: what the probe appends, and how it is packed for the pipe.

An event is two 64-bit integers: the time (``time.perf_counter_ns``) and a code. The code packs the kind
(bits 0-5), whether gradients were being recorded (bit 6), the stream (bits 7-10; 0 is the host) and the
index of the object that the event is about (bits 11 and up; an index into ``objects`` of the log's meta).
Two flat arrays instead of a list of tuples: no garbage-collector work in the measured process, 16 bytes an
event, and one cheap append each.
"""

from __future__ import annotations

import base64
import sys
import zlib
from array import array

# Kinds. An even number opens a span, the next odd number closes it.
DATA_BEGIN, DATA_END = 0, 1  # next batch asked of a loader
COPY_BEGIN, COPY_END = 2, 3  # tensor moved to another device
FORWARD_BEGIN, FORWARD_END = 4, 5  # outermost call of a module with trainable parameters
LOSS_BEGIN, LOSS_END = 6, 7  # outermost call of a module without parameters in training
BACKWARD_BEGIN, BACKWARD_END = 8, 9
OPTIMIZER_BEGIN, OPTIMIZER_END = 10, 11  # Optimizer.step / minimize
ZERO_BEGIN, ZERO_END = 12, 13  # Optimizer.zero_grad / clear_grad
PAUSE, RESUME = 14, 15  # the gate: between turns the process waits here; nothing in between is measured
USER_BEGIN, USER_END = 16, 17  # pacenote.step(), named regions
AWAY_BEGIN, AWAY_END = 18, 19  # our own work in a running program (writing events): belongs to no step
DEPTH_BEGIN, DEPTH_END = 20, 21  # steps recorded in depth: slower than the others, so in no statistic

KIND_MASK = 0x3F
GRAD_BIT = 0x40
STREAM_SHIFT, STREAM_MASK = 7, 0xF
OBJECT_SHIFT = 11


def code(kind: int, grad: bool = True, stream: int = 0, index: int = 0) -> int:
    """Pack one event code."""
    return kind | (GRAD_BIT if grad else 0) | stream << STREAM_SHIFT | index << OBJECT_SHIFT


def pack(values: array[int]) -> str:
    """Pack an int64 array as base64 of zlib of little-endian bytes, for a JSON line."""
    if sys.byteorder == "big":
        values = array("q", values)
        values.byteswap()
    return base64.b64encode(zlib.compress(values.tobytes(), 1)).decode("ascii")


def unpack(text: str) -> array[int]:
    """Undo :func:`pack`."""
    values = array("q")
    values.frombytes(zlib.decompress(base64.b64decode(text)))
    if sys.byteorder == "big":
        values.byteswap()
    return values
