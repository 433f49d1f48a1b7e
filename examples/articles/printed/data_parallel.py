"""Article 2: several devices in one process."""

import torch
from _lenet import LeNet, pictures
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.DataParallel(LeNet().to(device), device_ids=[0, 1] if torch.cuda.device_count() > 1 else None)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
for inputs, labels in torch.utils.data.DataLoader(pictures(), batch_size=32):
    outputs = model(inputs.to(device))  # the batch is split
    loss = criterion(outputs, labels.to(device))
    optimizer.zero_grad()
    loss.backward()  # the gradients are gathered
    optimizer.step()
