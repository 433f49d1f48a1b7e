"""SimpleNet: the two-layer network of the PaddlePaddle CPU-against-GPU article.

784-512-10 with ReLU, batch 64, plain SGD at 0.01, cross entropy. The input is one batch of normal numbers made
once; the labels are drawn anew in each step, as in the article. ``width`` scales the hidden layer, ``depth`` is
the number of hidden layers. Data mode ``"device"`` draws the labels once, too.
"""

from __future__ import annotations

from typing import Any, Iterator

from ..errors import UnsupportedError
from . import Request, Training, Workload, layer_sizes

INPUTS, HIDDEN, CLASSES = 784, 512, 10
LEARNING_RATE = 0.01
BATCH = 64


def sizes(levers: dict[str, Any]) -> list[int]:
    """Layer widths from input to output."""
    hidden = max(1, round(HIDDEN * float(levers.get("width") or 1.0)))
    return [INPUTS, *[hidden] * int(levers.get("depth") or 1), CLASSES]


def parameters(levers: dict[str, Any]) -> int:
    """Weights and biases of all layers."""
    widths = sizes(levers)
    return sum(before * after + after for before, after in layer_sizes(widths))


def flop_per_sample(levers: dict[str, Any]) -> float:
    """Forward once, backward twice, less the gradient of the input that nobody asks for."""
    widths = sizes(levers)
    forward = sum(2 * before * after for before, after in layer_sizes(widths))
    return float(3 * forward - 2 * widths[0] * widths[1])


def _check(request: Request) -> None:
    if request.data_mode == "loader":
        raise UnsupportedError("simplenet has no loader: its batch is made in memory; use data mode real or device.")


def _facts() -> dict[str, Any]:
    return {"source": "in-memory", "items": None}


def build_pytorch(request: Request) -> Training:
    """Build it in PyTorch."""
    import torch
    from torch import nn

    from ..loops import pytorch as loop

    _check(request)
    device = torch.device(request.device)
    batch = int(request.lever("batch_size", BATCH))
    widths = sizes(request.levers)
    layers: list[Any] = []
    for before, after in layer_sizes(widths[:-1]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(widths[-2], widths[-1])).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    x = torch.randn(batch, INPUTS, device=device)
    fixed = torch.randint(0, CLASSES, (batch,), device=device)

    def batches() -> Iterator[Any]:
        while True:
            labels = fixed if request.data_mode == "device" else torch.randint(0, CLASSES, (batch,), device=device)
            yield x, labels

    return loop.training(
        request,
        model,
        optimizer,
        batches(),
        samples_per_step=batch,
        data=_facts(),
        expected_parameters=parameters(request.levers),
    )


def build_paddle(request: Request) -> Training:
    """Build it in PaddlePaddle."""
    import paddle
    from paddle import nn

    from ..loops import paddle as loop

    _check(request)
    paddle.set_device(request.device)
    batch = int(request.lever("batch_size", BATCH))
    widths = sizes(request.levers)
    layers: list[Any] = []
    for before, after in layer_sizes(widths[:-1]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(widths[-2], widths[-1]))
    optimizer = paddle.optimizer.SGD(learning_rate=LEARNING_RATE, parameters=model.parameters())
    x = paddle.randn([batch, INPUTS])
    fixed = paddle.randint(0, CLASSES, [batch], dtype="int64")

    def batches() -> Iterator[Any]:
        while True:
            labels = fixed if request.data_mode == "device" else paddle.randint(0, CLASSES, [batch], dtype="int64")
            yield x, labels

    return loop.training(
        request,
        model,
        optimizer,
        batches(),
        samples_per_step=batch,
        data=_facts(),
        expected_parameters=parameters(request.levers),
    )


WORKLOAD = Workload(
    "simplenet",
    {"pytorch": build_pytorch, "paddle": build_paddle},
    defaults={"batch_size": [BATCH]},
    axes=("batch_size", "threads", "dtype", "width", "depth", "waiting_policy", "allocator"),
    flop_per_sample=flop_per_sample,
    parameters=parameters,
    data_modes=("real", "device"),
    articles=("paddle-cpu-gpu",),
)
