"""Batches from a generator."""

import torch
from common import data, model, report
from torch import nn


def batches(count):
    inputs, targets = data().tensors
    for at in range(count):
        rows = slice(16 * (at % 6), 16 * (at % 6) + 16)
        yield inputs[rows], targets[rows]


net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
steps = 0
for inputs, targets in batches(24):
    loss = nn.functional.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    steps += 1
report(steps, net)
