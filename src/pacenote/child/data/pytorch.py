"""CIFAR-10 loaders for PyTorch: as tutorials write them, and by whole batches.

``tutorial``: one image at a time through ``ToTensor`` and ``Normalize``, collated by the ``DataLoader``. With
torchvision installed these are its own. Without it, or with one that does not fit this torch, the same operations
are done here: on a Pillow image, as torchvision's ``CIFAR10`` hands it out, or on plain tensors where Pillow is
missing too. The record says which.

``batched``: the pixels stay bytes until a whole batch is picked by a shuffled permutation, converted and
normalised at once, already in the memory layout that the model wants; without workers on the device itself.

Both drop the last short batch of an epoch, so that every step is the same work.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import torch
from torch.utils.data import DataLoader, Dataset

from ..errors import UnsupportedError
from ..workloads import Request
from .cifar10 import Cifar10Bytes
from .layout import RECORD_BYTES

MEAN, STD = 0.5, 0.5  # the values of the PyTorch CIFAR-10 tutorial, for all three channels


class Cifar10(Dataset):  # type: ignore[misc]  # torch is not seen by the type checker
    """One transformed image and its label at a time."""

    by_batch = False

    def __init__(self, source: Cifar10Bytes) -> None:
        records = torch.frombuffer(source.records, dtype=torch.uint8).view(-1, RECORD_BYTES)
        self.images = records[:, 1:].view(-1, 3, 32, 32).permute(0, 2, 3, 1).contiguous()
        self.labels = records[:, 0].tolist()
        self.transform, self.transforms = _transform()
        if self.transforms != "torch":
            self.images = self.images.numpy()

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.transform(self.images[index]), self.labels[index]


def _transform() -> tuple[Callable[[Any], torch.Tensor], str]:
    """Return the per-image transform and whose it is."""
    try:
        import torchvision  # type: ignore[import-not-found, unused-ignore]
        from PIL import Image
        from torchvision import transforms
    except Exception:  # noqa: BLE001 - one built for another torch fails at import with a RuntimeError or OSError
        return _own_transform()
    tutorial = transforms.Compose([transforms.ToTensor(), transforms.Normalize((MEAN,) * 3, (STD,) * 3)])
    return lambda image: tutorial(Image.fromarray(image)), f"torchvision {torchvision.__version__}"


def _own_transform() -> tuple[Callable[[Any], torch.Tensor], str]:
    try:
        import numpy as np
        from PIL import Image
    except ImportError:
        return lambda image: _normalize(_scale(image)), "torch"

    def through_pillow(image: Any) -> torch.Tensor:
        return _normalize(_scale(torch.from_numpy(np.array(Image.fromarray(image), copy=True))))

    return through_pillow, "pillow"


def _scale(image: torch.Tensor) -> torch.Tensor:
    """Do what ``ToTensor`` does: height × width × channel bytes to channel × height × width in [0, 1]."""
    return image.permute(2, 0, 1).contiguous().to(torch.float32).div(255)


def _normalize(tensor: torch.Tensor) -> torch.Tensor:
    """Do what ``Normalize`` does, its check included, so that the cost is that of the original."""
    mean = torch.as_tensor((MEAN,) * 3, dtype=tensor.dtype)
    std = torch.as_tensor((STD,) * 3, dtype=tensor.dtype)
    if (std == 0).any():
        raise ValueError("a standard deviation is zero")
    return tensor.clone().sub_(mean.view(-1, 1, 1)).div_(std.view(-1, 1, 1))


class Cifar10Batches(Dataset):  # type: ignore[misc]  # torch is not seen by the type checker
    """A whole normalised batch at a time, picked by a tensor of indices."""

    by_batch = True

    def __init__(self, source: Cifar10Bytes, device: torch.device, *, channels_last: bool) -> None:
        records = torch.frombuffer(source.records, dtype=torch.uint8).view(-1, RECORD_BYTES)
        pixels = records[:, 1:].view(-1, 3, 32, 32)
        if channels_last:
            pixels = pixels.permute(0, 2, 3, 1)
        self.channels_last = channels_last
        self.pixels = pixels.reshape(len(records), -1).to(device)
        self.labels = records[:, 0].long().to(device)
        # One factor and one offset per byte instead of per channel: a flat row is one long vector operation in
        # either layout (0.2 ms for 256 images; per-channel broadcasting over the last axis takes many times that).
        self.factor = torch.full((3072,), 1 / (255 * STD), device=device)
        self.offset = torch.full((3072,), -MEAN / STD, device=device)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, indices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        images = self.pixels.index_select(0, indices).to(torch.float32)
        images.mul_(self.factor).add_(self.offset)
        labels = self.labels.index_select(0, indices)
        if self.channels_last:
            return images.view(-1, 32, 32, 3).permute(0, 3, 1, 2), labels
        return images.view(-1, 3, 32, 32), labels


class ShuffledBatches:
    """Index tensors of equal size, from a new permutation each epoch."""

    def __init__(self, items: int, batch_size: int, device: torch.device) -> None:
        self.items = items
        self.batch_size = batch_size
        self.device = device

    def __len__(self) -> int:
        return self.items // self.batch_size

    def __iter__(self) -> Iterator[torch.Tensor]:
        order = torch.randperm(self.items, device=self.device)
        return iter(order[: len(self) * self.batch_size].split(self.batch_size))


def loader(request: Request, source: Cifar10Bytes, batch_size: int) -> tuple[Any, dict[str, Any]]:
    """Return the loader that the levers ask for, and what a record says about it."""
    workers = int(request.lever("loader_workers", 0))
    if batch_size > source.items:
        raise UnsupportedError(f"a batch of {batch_size} is larger than the data set ({source.items} items).")
    dataset: Any
    if request.lever("pipeline", "tutorial") == "tutorial":
        dataset = Cifar10(source)
        loading = DataLoader(dataset, batch_size=batch_size, shuffle=True, num_workers=workers, drop_last=True)
        return loading, {**source.facts, "transforms": dataset.transforms}
    place = torch.device("cpu") if workers else torch.device(request.device)  # a worker cannot hand on device memory
    channels_last = request.lever("memory_format", "default") == "channels_last"
    dataset = Cifar10Batches(source, place, channels_last=channels_last)
    order = ShuffledBatches(source.items, batch_size, place)
    loading = DataLoader(dataset, batch_size=None, sampler=order, num_workers=workers)
    return loading, {**source.facts, "transforms": "whole batches"}
