"""Article 2: gradients of four batches are added up."""

import torch
from _lenet import LeNet, pictures
from torch import nn

model = LeNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
train_loader = torch.utils.data.DataLoader(pictures(), batch_size=8)

optimizer.zero_grad()
for i, data in enumerate(train_loader):
    inputs, labels = data
    outputs = model(inputs)
    loss = criterion(outputs, labels)
    loss.backward()
    if (i + 1) % 4 == 0:  # one update for every four batches
        optimizer.step()
        optimizer.zero_grad()
