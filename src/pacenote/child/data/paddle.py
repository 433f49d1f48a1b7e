"""CIFAR-10 loaders for PaddlePaddle: as tutorials write them, and by whole batches.

``tutorial``: one PIL image at a time, as ``paddle.vision.datasets.Cifar10`` hands it out, through Paddle's own
``Transpose`` and ``Normalize``. Both stay in numpy. ``ToTensor``, which other tutorials use, makes Paddle tensors; in
a forked loader worker that ends in a segmentation fault every other time (seen with 3.3.1).

``batched``: the pixels stay bytes until a whole batch is picked by a shuffled permutation, converted and
normalised at once, already in the memory layout that the model wants.

Both drop the last short batch of an epoch, so that every step is the same work.
"""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np
from paddle.io import DataLoader, Dataset
from paddle.vision import transforms
from PIL import Image

from ..errors import UnsupportedError
from ..workloads import Request
from .cifar10 import Cifar10Bytes
from .layout import RECORD_BYTES

HALF = 127.5
"""Mean and standard deviation in bytes: the same numbers come out as in PyTorch's tutorial, -1 to 1."""


class Cifar10(Dataset):  # type: ignore[misc]  # paddle is not seen by the type checker
    """One transformed image and its label at a time."""

    by_batch = False

    def __init__(self, source: Cifar10Bytes, data_format: str) -> None:
        super().__init__()
        records = np.frombuffer(source.records, dtype=np.uint8).reshape(-1, RECORD_BYTES)
        self.images = np.ascontiguousarray(records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
        self.labels = records[:, 0].astype(np.int64)
        if data_format == "NHWC":
            steps = [transforms.Normalize([HALF] * 3, [HALF] * 3, data_format="HWC")]
        else:
            steps = [transforms.Transpose(), transforms.Normalize([HALF] * 3, [HALF] * 3, data_format="CHW")]
        self.transform = transforms.Compose(steps)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self.transform(Image.fromarray(self.images[index])), self.labels[index]


class Cifar10Batches(Dataset):  # type: ignore[misc]  # paddle is not seen by the type checker
    """A whole normalised batch at a time, picked by an array of indices."""

    by_batch = True

    def __init__(self, source: Cifar10Bytes, data_format: str) -> None:
        super().__init__()
        records = np.frombuffer(source.records, dtype=np.uint8).reshape(-1, RECORD_BYTES)
        pixels = records[:, 1:].reshape(-1, 3, 32, 32)
        if data_format == "NHWC":
            pixels = pixels.transpose(0, 2, 3, 1)
        self.shape = pixels.shape[1:]
        self.pixels = np.ascontiguousarray(pixels).reshape(len(records), -1)
        self.labels = records[:, 0].astype(np.int64)
        self.factor = np.full(3072, 1 / HALF, dtype=np.float32)
        self.offset = np.full(3072, -1.0, dtype=np.float32)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, indices: Any) -> tuple[Any, Any]:
        images = self.pixels[indices].astype(np.float32)
        images *= self.factor
        images += self.offset
        return images.reshape(-1, *self.shape), self.labels[indices]


class ShuffledBatches:
    """One index array a batch, from a new permutation each epoch; a list of one, as a loader takes it."""

    def __init__(self, items: int, batch_size: int) -> None:
        self.items = items
        self.batch_size = batch_size

    def __len__(self) -> int:
        return self.items // self.batch_size

    def __iter__(self) -> Iterator[list[Any]]:
        order = np.random.permutation(self.items)  # as Paddle's own RandomSampler draws
        for at in range(len(self)):
            yield [order[at * self.batch_size : (at + 1) * self.batch_size]]


def _only(batches: list[Any]) -> Any:
    """Collate a list of one batch: the batch is ready."""
    return batches[0]


def loader(request: Request, source: Cifar10Bytes, batch_size: int) -> tuple[Any, dict[str, Any]]:
    """Return the loader that the levers ask for, and what a record says about it."""
    workers = int(request.lever("loader_workers", 0))
    if batch_size > source.items:
        raise UnsupportedError(f"a batch of {batch_size} is larger than the data set ({source.items} items).")
    data_format = "NHWC" if request.lever("memory_format", "default") == "channels_last" else "NCHW"
    dataset: Any
    if request.lever("pipeline", "tutorial") == "tutorial":
        dataset = Cifar10(source, data_format)
        loading = DataLoader(dataset, batch_size=batch_size, shuffle=True, num_workers=workers, drop_last=True)
        return loading, {**source.facts, "transforms": "paddle.vision"}
    dataset = Cifar10Batches(source, data_format)
    order = ShuffledBatches(source.items, batch_size)
    loading = DataLoader(dataset, batch_sampler=order, collate_fn=_only, num_workers=workers)
    return loading, {**source.facts, "transforms": "whole batches"}
