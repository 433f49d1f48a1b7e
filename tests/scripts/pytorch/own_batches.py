"""Batches from a function of the script's own, as in many language models."""

import torch
from common import data, model, report
from torch.nn import functional

inputs, targets = data().tensors


def get_batch():
    rows = torch.randint(0, len(inputs), (16,))
    return inputs[rows], targets[rows]


net = model()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
steps = 0
while steps < 25:
    x, y = get_batch()
    loss = functional.cross_entropy(net(x), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    steps += 1
print(f"loss {loss.item():.6f}")
report(steps, net)
