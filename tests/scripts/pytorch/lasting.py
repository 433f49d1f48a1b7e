"""Trains for some seconds: alone, under its own profiler, or with loader workers that are forked anew all the time."""

import sys
import time

import torch
from common import data, model, report
from torch import nn
from torch.utils.data import DataLoader

how = sys.argv[1]
net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
steps = 0
profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
if how == "profiles":
    profiler.start()
for _ in range(60):
    for inputs, targets in DataLoader(data(), batch_size=16, shuffle=True, num_workers=1 if how == "workers" else 0):
        time.sleep(0.02)
        loss = criterion(net(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += 1
if how == "profiles":
    profiler.stop()
    print("linear layers seen:", sum(row.count for row in profiler.key_averages() if row.key == "aten::addmm"))
report(steps, net)
