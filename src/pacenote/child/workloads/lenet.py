"""LeNet on CIFAR-10: the convolutional network of the PyTorch GPU-against-CPU guide.

Convolution 5 × 5 to 6 channels, ReLU, max pooling; convolution 5 × 5 to 16 channels, ReLU, max pooling; fully
connected 400-120-84-10; SGD at 0.01 with momentum 0.9. ``width`` scales both channel counts; ``depth`` 1 is the
article's network, each further one adds an 84-84 layer before the last.
"""

from __future__ import annotations

import itertools
from typing import Any

from .. import data
from . import Request, Training, Workload, layer_sizes

CHANNELS = (6, 16)
HIDDEN = (120, 84)
CLASSES = 10
LEARNING_RATE, MOMENTUM = 0.01, 0.9
BATCH = 32


def channels(levers: dict[str, Any]) -> tuple[int, int]:
    """Channel counts of the two convolutions."""
    width = float(levers.get("width") or 1.0)
    return max(1, round(CHANNELS[0] * width)), max(1, round(CHANNELS[1] * width))


def linear_sizes(levers: dict[str, Any]) -> list[int]:
    """Widths of the fully connected part, from the 5 × 5 maps to the classes."""
    extra = [HIDDEN[1]] * (int(levers.get("depth") or 1) - 1)
    return [25 * channels(levers)[1], *HIDDEN, *extra, CLASSES]


def parameters(levers: dict[str, Any]) -> int:
    """Weights and biases of all layers (62,006 for the article's network)."""
    first, second = channels(levers)
    widths = linear_sizes(levers)
    linear = sum(before * after + after for before, after in layer_sizes(widths))
    return (75 * first + first) + (25 * first * second + second) + linear


def flop_per_sample(levers: dict[str, Any]) -> float:
    """Forward once, backward twice, less the gradient of the image that nobody asks for (3.205 MFLOP)."""
    first, second = channels(levers)
    widths = linear_sizes(levers)
    conv1 = 2 * 28 * 28 * first * 75
    conv2 = 2 * 10 * 10 * second * 25 * first
    linear = sum(2 * before * after for before, after in layer_sizes(widths))
    return float(3 * (conv1 + conv2 + linear) - conv1)


def build_pytorch(request: Request) -> Training:
    """Build it in PyTorch."""
    import torch
    import torch.nn.functional as F  # noqa: N812 - the name every PyTorch user gives it
    from torch import nn

    from ..data import pytorch as input_pipeline
    from ..loops import pytorch as loop

    first, second = channels(request.levers)
    widths = linear_sizes(request.levers)

    class LeNet(nn.Module):  # type: ignore[misc]  # torch is not seen by the type checker
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, first, 5)
            self.conv2 = nn.Conv2d(first, second, 5)
            self.linear = nn.ModuleList(nn.Linear(before, after) for before, after in layer_sizes(widths))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = F.max_pool2d(F.relu(self.conv1(x)), 2)
            x = F.max_pool2d(F.relu(self.conv2(x)), 2)
            x = torch.flatten(x, 1)
            for layer in self.linear[:-1]:
                x = F.relu(layer(x))
            return self.linear[-1](x)

    batch = int(request.lever("batch_size", BATCH))
    loader, facts = input_pipeline.loader(request, data.load(request.data_dir, request.cache_dir), batch)
    if request.data_mode == "loader":
        return _only_loader(loader, batch, facts)
    device = torch.device(request.device)
    model = LeNet().to(device)
    if request.lever("memory_format", "default") == "channels_last":
        model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)
    batches: Any = loader
    if request.data_mode == "device":
        inputs, labels = next(iter(loader))
        batches = itertools.repeat((inputs.to(device), labels.to(device)))
    return loop.training(
        request,
        model,
        optimizer,
        batches,
        samples_per_step=batch,
        data=facts,
        expected_parameters=parameters(request.levers),
        loader=loader if request.data_mode == "real" else None,
    )


def build_paddle(request: Request) -> Training:
    """Build it in PaddlePaddle."""
    import paddle
    import paddle.nn.functional as F  # noqa: N812 - the name every Paddle user gives it
    from paddle import nn

    from ..data import paddle as input_pipeline
    from ..loops import paddle as loop

    first, second = channels(request.levers)
    widths = linear_sizes(request.levers)
    layout = "NHWC" if request.lever("memory_format", "default") == "channels_last" else "NCHW"

    class LeNet(nn.Layer):  # type: ignore[misc]  # paddle is not seen by the type checker
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2D(3, first, 5, data_format=layout)
            self.conv2 = nn.Conv2D(first, second, 5, data_format=layout)
            self.linear = nn.LayerList([nn.Linear(before, after) for before, after in layer_sizes(widths)])

        def forward(self, x: paddle.Tensor) -> paddle.Tensor:
            x = F.max_pool2d(F.relu(self.conv1(x)), 2, data_format=layout)
            x = F.max_pool2d(F.relu(self.conv2(x)), 2, data_format=layout)
            x = paddle.flatten(x, 1)
            for layer in self.linear[:-1]:
                x = F.relu(layer(x))
            return self.linear[-1](x)

    paddle.set_device(request.device)
    batch = int(request.lever("batch_size", BATCH))
    loader, facts = input_pipeline.loader(request, data.load(request.data_dir, request.cache_dir), batch)
    if request.data_mode == "loader":
        return _only_loader(loader, batch, facts)
    model = LeNet()
    optimizer = paddle.optimizer.Momentum(learning_rate=LEARNING_RATE, momentum=MOMENTUM, parameters=model.parameters())
    batches = itertools.repeat(tuple(next(iter(loader)))) if request.data_mode == "device" else loader
    return loop.training(
        request,
        model,
        optimizer,
        batches,
        samples_per_step=batch,
        data=facts,
        expected_parameters=parameters(request.levers),
        loader=loader if request.data_mode == "real" else None,
    )


def _only_loader(loader: Any, batch: int, facts: dict[str, Any]) -> Training:
    """Iterate the loader and nothing else: the ceiling that the input sets."""

    def run() -> None:
        while True:
            for _batch in loader:
                pass

    return Training(run, samples_per_step=batch, data=facts, loader=loader)


WORKLOAD = Workload(
    "lenet",
    {"pytorch": build_pytorch, "paddle": build_paddle},
    defaults={"batch_size": [BATCH, 256]},
    axes=(
        "batch_size",
        "threads",
        "loader_workers",
        "dtype",
        "memory_format",
        "pipeline",
        "width",
        "depth",
        "waiting_policy",
        "allocator",
    ),
    flop_per_sample=flop_per_sample,
    parameters=parameters,
    articles=("pytorch-lenet-gpu-cpu",),
)
