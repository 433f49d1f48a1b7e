"""Names and sizes of the published CIFAR-10 files (https://www.cs.toronto.edu/~kriz/cifar.html)."""

from __future__ import annotations

import os

CLASSES = 10
IMAGE_BYTES = 3 * 32 * 32
RECORD_BYTES = 1 + IMAGE_BYTES
BATCH_ITEMS = 10_000
BATCHES = 5
BINARY_FOLDER = "cifar-10-batches-bin"
PYTHON_FOLDER = "cifar-10-batches-py"

PYTHON_SIZE_LIMIT_BYTES = 64 << 20
"""The published batches are 31 MB; pickled as escaped text they stay below twice that."""


def binary_files(folder: str) -> list[str]:
    """Paths of the five training files of the binary version."""
    return [os.path.join(folder, f"data_batch_{number}.bin") for number in range(1, BATCHES + 1)]


def python_files(folder: str) -> list[str]:
    """Paths of the five training files of the Python version."""
    return [os.path.join(folder, f"data_batch_{number}") for number in range(1, BATCHES + 1)]
