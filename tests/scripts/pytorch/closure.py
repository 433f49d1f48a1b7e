"""An optimizer that calls the model itself."""

import torch
from common import data, model, report
from torch import nn
from torch.utils.data import DataLoader

net = model()
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)
steps = 0
for inputs, targets in DataLoader(data(), batch_size=16):

    def closure(inputs=inputs, targets=targets):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(inputs), targets)
        loss.backward()
        return loss

    optimizer.step(closure)
    steps += 1
report(steps, net)
