"""A compiled model."""

import torch
from common import data, model, report
from torch import nn
from torch.utils.data import DataLoader

net = model()
fast = torch.compile(net, backend="aot_eager")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
steps = 0
for _ in range(3):
    for inputs, targets in DataLoader(data(), batch_size=16):
        optimizer.zero_grad()
        nn.functional.cross_entropy(fast(inputs), targets).backward()
        optimizer.step()
        steps += 1
report(steps, net)
