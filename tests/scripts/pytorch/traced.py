"""Profiles its own steps and exports the trace."""

import sys

import torch
from common import data, model, report
from torch import nn
from torch.utils.data import DataLoader

net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
steps = 0
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profiler:
    for inputs, targets in DataLoader(data(), batch_size=16):
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        steps += 1
profiler.export_chrome_trace(sys.argv[1])
report(steps, net)
