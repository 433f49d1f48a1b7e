"""The loop of every tutorial."""

import torch
from common import data, model, report
from torch import nn
from torch.utils.data import DataLoader

net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
steps = 0
for epoch in range(4):
    for inputs, targets in DataLoader(data(), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        steps += 1
    print(f"epoch {epoch}: {loss.item():.6f}")
report(steps, net)
