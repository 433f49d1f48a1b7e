"""The file that a profiler wrote, decoded into typed values; nothing in it is executed."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any, Final

import msgspec

from pacenote.errors import UsageError

LARGEST_BYTES: Final = 2_000_000_000
"""Of a trace, unpacked: its values take about ten times as much memory."""


class Event(msgspec.Struct, frozen=True):
    """One event, as far as it is read; times in microseconds."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Any = None
    tid: Any = None
    ts: Any = 0.0
    dur: Any = 0.0
    args: Any = None

    def fact(self, *names: str) -> Any:
        """The first of some entries of ``args`` that is there."""
        if isinstance(self.args, dict):
            for name in names:
                if name in self.args:
                    return self.args[name]
        return None


class File(msgspec.Struct, frozen=True):
    """The file: its events, and what it says of the machine."""

    traceEvents: list[Event]  # noqa: N815 - the format has this name
    deviceProperties: list[dict[str, Any]] = []  # noqa: N815 - the format has this name
    distributedInfo: dict[str, Any] | None = None  # noqa: N815 - the format has this name
    schemaVersion: Any = None  # noqa: N815 - the format has this name


def decoded(path: Path) -> File:
    """Decode a trace, packed or not.

    Raises:
        UsageError: If it cannot be read, is no trace, or is too large.
    """
    try:
        raw = _bytes_of(path)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path}: cannot be read ({error}).") from error
    try:
        return msgspec.json.decode(raw, type=File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: no trace of torch.profiler ({str(error)[:120]}).") from error


def _bytes_of(path: Path) -> bytes:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if packed:
        with gzip.open(path, "rb") as unpacked:
            raw = unpacked.read(LARGEST_BYTES + 1)
    else:
        with path.open("rb") as plain:
            raw = plain.read(LARGEST_BYTES + 1)
    if len(raw) > LARGEST_BYTES:
        raise UsageError(f"{path}: over {LARGEST_BYTES / 1e9:.0f} GB; profile fewer steps.")
    return raw
