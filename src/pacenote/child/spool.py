"""The file in which an attached process leaves what it saw, for the parent to read.

One file per process, only ever appended to, in blocks that are whole or absent: a kill between two writes loses at most
the last quarter of a second. A file instead of a pipe, because nobody may be reading (a rank on its own terminal), a
script may close every descriptor it did not open, and a full pipe would stop the training.

Each block is a header (kind, number of bytes) and its body: ``JSON`` one message, ``EVENTS`` the compressed times and
codes of some events. The file is opened for each write, so nothing is left to be inherited by a fork.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator
from typing import Any

SUFFIX = ".spool"
JSON, EVENTS = 1, 2
_HEAD = struct.Struct("<BxxxI")
_HALF = struct.Struct("<I")


class SpoolWriter:
    """Appends blocks to one file.

    Attributes:
        lost: Blocks that could not be written (the disk is full, the folder is gone); the script goes on.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.lost = 0

    def message(self, message: dict[str, Any]) -> None:
        """Append one message."""
        self._append(JSON, json.dumps(message, separators=(",", ":"), default=str).encode())

    def events(self, t_ns: array[int], code: array[int]) -> None:
        """Append some events."""
        times, codes = zlib.compress(_little(t_ns), 1), zlib.compress(_little(code), 1)
        self._append(EVENTS, _HALF.pack(len(times)) + times + codes)

    def _append(self, kind: int, body: bytes) -> None:
        data = memoryview(_HEAD.pack(kind, len(body)) + body)
        try:
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            try:
                while data:
                    data = data[os.write(file, data) :]
            finally:
                os.close(file)
        except OSError:
            self.lost += 1


def read(data: bytes, offset: int = 0) -> Iterator[tuple[int, Any, int]]:
    """Read whole blocks from ``offset``: ``(JSON, message, next)`` or ``(EVENTS, (t_ns, code) as bytes, next)``.

    A block whose end is not there yet is left for the next reading.

    Raises:
        ValueError: If the bytes are no blocks.
    """
    while offset + _HEAD.size <= len(data):
        kind, size = _HEAD.unpack_from(data, offset)
        begin = offset + _HEAD.size
        if begin + size > len(data):
            return
        body = data[begin : begin + size]
        offset = begin + size
        try:
            if kind == JSON:
                yield kind, json.loads(body), offset
            elif kind == EVENTS:
                (length,) = _HALF.unpack_from(body)
                times = body[_HALF.size : _HALF.size + length]
                yield kind, (zlib.decompress(times), zlib.decompress(body[_HALF.size + length :])), offset
            else:
                raise ValueError(f"unknown kind of block {kind}")
        except (struct.error, zlib.error) as error:
            raise ValueError(str(error)) from error


def _little(values: array[int]) -> bytes:
    if sys.byteorder == "big":
        values = array("q", values)
        values.byteswap()
    return values.tobytes()
