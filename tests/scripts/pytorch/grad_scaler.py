"""Mixed precision with a gradient scaler, on the CPU."""

import torch
from common import data, model, report
from torch import nn
from torch.utils.data import DataLoader

net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
steps = 0
for _ in range(3):
    for inputs, targets in DataLoader(data(), batch_size=16):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(net(inputs), targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        steps += 1
report(steps, net)
