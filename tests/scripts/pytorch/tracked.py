"""One generator runs through the whole training, and the script says so."""

import time
from collections.abc import Iterator

import torch
from common import data, model, report
from torch import nn

import pacenote


def batches() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of sixteen, slowly."""
    inputs, targets = data().tensors
    for at in range(0, 96, 16):
        time.sleep(0.005)
        yield inputs[at : at + 16], targets[at : at + 16]


net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
steps = 0
for inputs, targets in pacenote.track(batches()):
    loss = nn.functional.cross_entropy(net(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    steps += 1
report(steps, net)
