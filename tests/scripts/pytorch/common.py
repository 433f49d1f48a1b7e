"""What the small scripts share: data, a model, and the last line, which says what was trained."""

from __future__ import annotations

import hashlib

import torch
from torch import nn


def data(items: int = 96) -> torch.utils.data.TensorDataset:
    """Seeded noise with ten classes."""
    torch.manual_seed(1)
    return torch.utils.data.TensorDataset(torch.randn(items, 20), torch.randint(0, 10, (items,)))


def model() -> nn.Module:
    """Two seeded layers."""
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 10))


def report(steps: int, *trained: nn.Module) -> None:
    """Print how many optimizer steps were made and a hash of what they led to."""
    digest = hashlib.sha256()
    for one in trained:
        for parameter in one.parameters():
            digest.update(parameter.detach().numpy().tobytes())
    print(f"steps {steps} weights {digest.hexdigest()[:16]}", flush=True)
