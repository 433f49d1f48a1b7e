"""Article 2: a decorator that times a function."""

import time

import torch
from _lenet import LeNet, pictures
from torch import nn


def timer(func):
    """Print how long a call took."""

    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        result = func(*args, **kwargs)
        elapsed = time.perf_counter() - start
        print(f"{func.__name__} took: {elapsed:.4f} s")
        return result

    return wrapper


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = LeNet().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()


@timer
def train_epoch():
    """One pass over the data."""
    for inputs, labels in torch.utils.data.DataLoader(pictures(), batch_size=32):
        loss = criterion(model(inputs.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train_epoch()
