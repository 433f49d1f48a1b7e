"""What the blocks of article 2 share: a small LeNet for 32 x 32 pictures, and noise to train it on."""

import torch
from torch import nn


class LeNet(nn.Module):
    """Two convolutions and three linear layers."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            *(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)
        )

    def forward(self, x):
        """Class scores."""
        return self.classifier(self.features(x))


def pictures(count=512):
    """Noise with ten classes."""
    torch.manual_seed(0)
    return torch.utils.data.TensorDataset(torch.randn(count, 3, 32, 32), torch.randint(0, 10, (count,)))
