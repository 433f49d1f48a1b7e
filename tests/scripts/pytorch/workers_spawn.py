"""Loader workers that are made by spawn."""

import torch
from common import data, model, report
from torch import nn
from torch.utils.data import DataLoader


def main():
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    steps = 0
    loader = DataLoader(data(), batch_size=16, num_workers=2, multiprocessing_context="spawn")
    for _ in range(2):
        for inputs, targets in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs), targets).backward()
            optimizer.step()
            steps += 1
    report(steps, net)


if __name__ == "__main__":
    main()
