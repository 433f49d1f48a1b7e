"""Validation between epochs: without gradients, and once with them by mistake."""

import torch
from common import data, model, report
from torch import nn
from torch.utils.data import DataLoader

net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
train, test = DataLoader(data(), batch_size=8, shuffle=True), DataLoader(data(64), batch_size=8)
steps = 0
for epoch in range(4):
    net.train()
    for inputs, targets in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), targets).backward()
        optimizer.step()
        steps += 1
    net.eval()
    with torch.set_grad_enabled(epoch == 2):
        right = sum(int((net(inputs).argmax(1) == targets).sum()) for inputs, targets in test)
    print(f"epoch {epoch}: {right}")
report(steps, net)
