"""A compiled function that makes a whole step."""

import torch
from common import data, model, report
from torch import nn
from torch.utils.data import DataLoader

net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.compile(backend="aot_eager")
def train_step(inputs, targets):
    loss = nn.functional.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


steps = 0
for _ in range(3):
    for inputs, targets in DataLoader(data(), batch_size=16):
        train_step(inputs, targets)
        steps += 1
report(steps, net)
