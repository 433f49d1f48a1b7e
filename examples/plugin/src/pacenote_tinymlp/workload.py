"""A workload of one's own: a small network on made-up data, in PyTorch.

This file is loaded on both sides: by Pacenote, to know the name and the levers, and by the measured process, which may
be an interpreter without Pacenote. So it imports the standard library only, and a framework inside the builder.
"""

from __future__ import annotations

from typing import Any

try:
    from pacenote_child.workloads import Request, Training, Workload
except ImportError:  # on Pacenote's own side
    from pacenote.child.workloads import Request, Training, Workload

FEATURES, HIDDEN, CLASSES = 64, 128, 4


def hidden(levers: dict[str, Any]) -> int:
    """Units of the hidden layer."""
    return max(1, round(HIDDEN * float(levers.get("width") or 1.0)))


def parameters(levers: dict[str, Any]) -> int:
    """Weights and biases of both layers."""
    units = hidden(levers)
    return FEATURES * units + units + units * CLASSES + CLASSES


def flop_per_sample(levers: dict[str, Any]) -> float:
    """Forward once and backward twice, less the gradient of the input."""
    units = hidden(levers)
    return float(3 * 2 * units * (FEATURES + CLASSES) - 2 * FEATURES * units)


def build(request: Request) -> Training:
    """Write the training as any PyTorch script has it; no timer, no call to Pacenote."""
    import torch
    from torch import nn

    request.adapter.seed(request.seed)
    batch = int(request.lever("batch_size", 64))
    units = hidden(request.levers)
    model = nn.Sequential(nn.Linear(FEATURES, units), nn.ReLU(), nn.Linear(units, CLASSES)).to(request.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    criterion = nn.CrossEntropyLoss()
    inputs = torch.randn(batch, FEATURES, device=request.device)
    labels = torch.randint(0, CLASSES, (batch,), device=request.device)

    def run() -> None:
        while True:
            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            optimizer.step()

    return Training(
        run,
        samples_per_step=batch,
        data={"source": "made-up", "items": batch, "seed": request.seed},
        model=model,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        expected_parameters=parameters(request.levers),
    )


WORKLOAD = Workload(
    "tinymlp",
    {"pytorch": build},
    defaults={"batch_size": [64]},
    axes=("batch_size", "threads", "width", "waiting_policy", "allocator"),
    data_modes=("device",),
    flop_per_sample=flop_per_sample,
    parameters=parameters,
)
