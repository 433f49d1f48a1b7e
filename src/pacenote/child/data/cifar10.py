"""Reads the CIFAR-10 training set in its published binary or Python format.

Binary format: five files ``data_batch_1.bin`` … ``data_batch_5.bin`` of 10,000 records; a record is one label
byte and 3,072 pixel bytes, the red plane first, then green, then blue, each row by row
(https://www.cs.toronto.edu/~kriz/cifar.html). The Python format holds the same pixels as pickled arrays.
"""

from __future__ import annotations

import os
import time
from typing import Any

from ..errors import BadDataError
from . import safe_pickle, standin
from .layout import (
    BATCH_ITEMS,
    BATCHES,
    BINARY_FOLDER,
    CLASSES,
    IMAGE_BYTES,
    PYTHON_FOLDER,
    PYTHON_SIZE_LIMIT_BYTES,
    RECORD_BYTES,
    binary_files,
    python_files,
)


class Cifar10Bytes:
    """The training set in memory, as records of the binary format.

    Attributes:
        records: ``items`` × 3,073 bytes: label, then 3 × 32 × 32 pixel bytes, planes first.
        items: How many there are.
        facts: What a record says about the input: source, items, seed, path (last part only).
    """

    def __init__(self, records: bytearray, facts: dict[str, Any]) -> None:
        self.records = records
        self.items = len(records) // RECORD_BYTES
        self.facts: dict[str, Any] = {**facts, "items": self.items}


def load(data_dir: str | None, cache_dir: str | None) -> Cifar10Bytes:
    """Read CIFAR-10 from ``data_dir``; without one, from the stand-in in ``cache_dir`` (made on first use).

    The facts say in ``prepare_s`` how long that took.

    Raises:
        BadDataError: If the files are missing, of the wrong size, or not what they claim to be.
    """
    began = time.perf_counter()
    source = _stand_in(cache_dir) if data_dir is None else _published(data_dir)
    source.facts["prepare_s"] = time.perf_counter() - began
    return source


def _stand_in(cache_dir: str | None) -> Cifar10Bytes:
    folder = standin.ensure(cache_dir)
    return _read_binary(folder, {"source": "stand-in", "seed": standin.SEED, "path": os.path.basename(folder)})


def _published(data_dir: str) -> Cifar10Bytes:
    root = os.path.abspath(os.path.expanduser(data_dir))
    if not os.path.isdir(root):
        raise BadDataError(f"{data_dir}: no such folder; --data names the folder that holds data_batch_1.bin.")
    for folder in (root, os.path.join(root, BINARY_FOLDER)):
        if any(os.path.exists(path) for path in binary_files(folder)):
            return _read_binary(folder, {"source": "cifar10-binary", "path": os.path.basename(folder)})
    for folder in (root, os.path.join(root, PYTHON_FOLDER)):
        if any(os.path.exists(path) for path in python_files(folder)):
            return _read_python(folder, {"source": "cifar10-python", "path": os.path.basename(folder)})
    raise BadDataError(
        f"{data_dir}: holds neither data_batch_1.bin (CIFAR-10 binary version) nor data_batch_1 (Python version); "
        "unpack the archive there, or leave --data out to use the stand-in."
    )


def _unreadable(path: str, error: OSError) -> BadDataError:
    if isinstance(error, FileNotFoundError):
        return BadDataError(f"{path} is missing; unpack the whole CIFAR-10 archive again.")
    return BadDataError(f"{path} cannot be read: {error.strerror}.")


def _read_binary(folder: str, facts: dict[str, Any]) -> Cifar10Bytes:
    size = BATCH_ITEMS * RECORD_BYTES
    records = bytearray(size * BATCHES)
    view = memoryview(records)
    for number, path in enumerate(binary_files(folder)):
        try:
            found = os.path.getsize(path)
            with open(path, "rb") as file:
                read = file.readinto(view[number * size : (number + 1) * size])
        except OSError as error:
            raise _unreadable(path, error) from None
        if found != size or read != size:
            raise BadDataError(
                f"{path}: {found} bytes instead of {size}; the file is cut off or in another format. "
                "Fetch the CIFAR-10 binary version again."
            )
        label = max(records[number * size : (number + 1) * size : RECORD_BYTES])
        if label >= CLASSES:
            raise BadDataError(f"{path}: label {label} is not one of 0-9; this is no CIFAR-10 file.")
    return Cifar10Bytes(records, facts)


def _read_python(folder: str, facts: dict[str, Any]) -> Cifar10Bytes:
    records = bytearray()
    for path in python_files(folder):
        try:
            with open(path, "rb") as file:
                raw = file.read(PYTHON_SIZE_LIMIT_BYTES + 1)
        except OSError as error:
            raise _unreadable(path, error) from None
        if len(raw) > PYTHON_SIZE_LIMIT_BYTES:
            raise BadDataError(f"{path}: too large for a CIFAR-10 batch; fetch it again.")
        records += _python_records(safe_pickle.loads(raw, path), path)
    return Cifar10Bytes(records, facts)


def _python_records(batch: object, path: str) -> bytes:
    """Turn one unpickled batch into records, checking every claim it makes."""
    wrong = BadDataError(f"{path}: not a CIFAR-10 batch (10,000 × 3,072 bytes in 'data', 10,000 labels).")
    if not isinstance(batch, dict):
        raise wrong
    pixels = batch.get(b"data", batch.get("data"))
    labels = batch.get(b"labels", batch.get("labels"))
    if not isinstance(pixels, safe_pickle.ByteArray) or pixels.shape != (BATCH_ITEMS, IMAGE_BYTES):
        raise wrong
    if not isinstance(labels, list) or len(labels) != BATCH_ITEMS:
        raise wrong
    if not all(type(label) is int and 0 <= label < CLASSES for label in labels):
        raise BadDataError(f"{path}: a label is not one of 0-9; this is no CIFAR-10 file.")
    view = memoryview(pixels.data)
    parts: list[bytes | memoryview] = []
    for index, label in enumerate(labels):
        parts += (bytes((label,)), view[index * IMAGE_BYTES : (index + 1) * IMAGE_BYTES])
    return b"".join(parts)
