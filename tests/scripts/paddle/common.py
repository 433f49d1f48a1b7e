"""What the small scripts share: data, a model, and the last line, which says what was trained."""

from __future__ import annotations

import hashlib

import numpy as np
import paddle
from paddle import nn


class Data(paddle.io.Dataset):
    """Seeded noise with ten classes."""

    def __init__(self, items: int = 96) -> None:
        random = np.random.default_rng(1)
        self.inputs = random.standard_normal((items, 20)).astype("float32")
        self.targets = random.integers(0, 10, (items, 1))

    def __getitem__(self, at: int) -> tuple[np.ndarray, np.ndarray]:
        return self.inputs[at], self.targets[at]

    def __len__(self) -> int:
        return len(self.inputs)


def model() -> nn.Layer:
    """Two seeded layers."""
    paddle.seed(2)
    return nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 10))


def report(steps: int, *trained: nn.Layer) -> None:
    """Print how many optimizer steps were made and a hash of what they led to."""
    digest = hashlib.sha256()
    for one in trained:
        for parameter in one.parameters():
            digest.update(parameter.numpy().tobytes())
    print(f"steps {steps} weights {digest.hexdigest()[:16]}", flush=True)
