"""Article 2: gradients of four batches are averaged, and the last batches are not lost."""

import torch
from _lenet import LeNet, pictures
from torch import nn

EVERY = 4
model = LeNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
train_loader = torch.utils.data.DataLoader(pictures(), batch_size=8)

optimizer.zero_grad()
for i, (inputs, labels) in enumerate(train_loader):
    loss = criterion(model(inputs), labels)
    (loss / EVERY).backward()
    if (i + 1) % EVERY == 0 or i + 1 == len(train_loader):
        optimizer.step()
        optimizer.zero_grad()
