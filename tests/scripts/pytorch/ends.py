"""Trains a little, then ends in the way that its argument says."""

import os
import signal
import sys

import torch
from common import data, model, report
from torch import nn
from torch.utils.data import DataLoader

net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
steps = 0
for _ in range(3):
    for inputs, targets in DataLoader(data(), batch_size=16):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), targets).backward()
        optimizer.step()
        steps += 1
report(steps, net)
match sys.argv[1]:
    case "exception":
        raise RuntimeError("out of luck")
    case "exit":
        sys.exit(7)
    case "interrupt":
        signal.raise_signal(signal.SIGINT)
    case "terminate":
        os.kill(os.getpid(), signal.SIGTERM)
    case "_exit":
        os._exit(9)
