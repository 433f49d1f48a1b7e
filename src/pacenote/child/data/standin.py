"""A deterministic, learnable stand-in for CIFAR-10, in the same binary format.

Each class has a prototype: a coarse pattern of blocks with byte values up to 127. An item is the prototype of
its class plus noise of 0-127 a byte. Two bytes below 128 never carry into the next, so one addition of two
3,072-byte integers makes a whole image, and 150 MB take about a second with the standard library alone.

One label in four is drawn at random, so the loss of a network that has learnt everything stays near 1 and the
gradients keep an ordinary size for ever. Without that the loss falls to zero within a hundred steps, and
arithmetic on the vanishing (subnormal) numbers that follow would change the time of a step.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile

from ..errors import BadDataError
from .layout import BATCH_ITEMS, BATCHES, CLASSES, IMAGE_BYTES, RECORD_BYTES, binary_files

SEED = 2012
"""Fixed: a run's own seed changes the weights and the order, never the data."""

RANDOM_LABELS = 4
"""One label in this many is random; the best possible accuracy is then 3/4 + 1/4 × 1/10 = 77.5 %."""

VERSION = 2
"""Part of the folder's name; raise it when the bytes change."""

_SIDE = 32
_BLOCK = 8  # pixels a side of one block of a prototype: coarse enough for a 5 × 5 kernel and two poolings
_LOW_SEVEN_BITS = int.from_bytes(b"\x7f" * IMAGE_BYTES, "little")


def ensure(cache_dir: str | None) -> str:
    """Return the stand-in's folder below ``cache_dir``, making it on first use.

    Raises:
        BadDataError: If it cannot be written.
    """
    cache = cache_dir or default_cache_dir()
    folder = os.path.join(cache, f"cifar10-stand-in-v{VERSION}")
    if _complete(folder):
        return folder
    try:
        os.makedirs(cache, exist_ok=True)
        scratch = tempfile.mkdtemp(prefix=".stand-in-", dir=cache)
        try:
            write(scratch)
            _move_in(scratch, folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise BadDataError(
            f"the stand-in data (154 MB) cannot be written to {cache}: {error.strerror}; "
            "make room there or name CIFAR-10 with --data."
        ) from None
    return folder


def default_cache_dir() -> str:
    """The user's cache folder, for a job that names none."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "pacenote")


def write(folder: str, items_per_file: int = BATCH_ITEMS) -> None:
    """Write the five training files and the list of class names into an existing folder."""
    generator = random.Random(SEED)
    prototypes = [_prototype(generator) for _ in range(CLASSES)]
    for path in binary_files(folder):
        with open(path, "wb") as file:
            file.write(_records(generator, prototypes, items_per_file))
    with open(os.path.join(folder, "batches.meta.txt"), "w", encoding="ascii") as file:
        file.writelines(f"stand-in-{label}\n" for label in range(CLASSES))


def _complete(folder: str) -> bool:
    size = BATCH_ITEMS * RECORD_BYTES
    return all(os.path.isfile(path) and os.path.getsize(path) == size for path in binary_files(folder))


def _move_in(scratch: str, folder: str) -> None:
    """Give the finished folder its name in one step; whoever comes second uses what is there."""
    if os.path.isdir(folder) and not _complete(folder):
        shutil.rmtree(folder)  # left damaged by hand or by a full disk
    try:
        os.rename(scratch, folder)
    except OSError:
        if not _complete(folder):
            raise


def _prototype(generator: random.Random) -> int:
    """Draw one class pattern: per plane a grid of blocks, as an integer of 3,072 little-endian bytes."""
    rows = []
    for _plane in range(3):
        for _band in range(_SIDE // _BLOCK):
            row = b"".join(bytes([generator.randrange(128)]) * _BLOCK for _ in range(_SIDE // _BLOCK))
            rows.append(row * _BLOCK)
    return int.from_bytes(b"".join(rows), "little")


def _records(generator: random.Random, prototypes: list[int], items: int) -> bytes:
    """Draw the records of one file: label byte, then 3,072 pixel bytes."""
    records = []
    for _ in range(items):
        label = generator.randrange(CLASSES)
        shown = generator.randrange(CLASSES) if generator.randrange(RANDOM_LABELS) == 0 else label
        noise = generator.getrandbits(8 * IMAGE_BYTES) & _LOW_SEVEN_BITS
        records.append(bytes([label]))
        records.append((prototypes[shown] + noise).to_bytes(IMAGE_BYTES, "little"))
    return b"".join(records)


def size_bytes() -> int:
    """How much disk the stand-in takes."""
    return BATCHES * BATCH_ITEMS * RECORD_BYTES
