"""Article 2: three ways to a device."""

import torch
from _lenet import LeNet, pictures
from torch import nn

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
model = LeNet().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

with torch.cuda.device(0 if torch.cuda.is_available() else -1):
    second = LeNet().cuda() if torch.cuda.is_available() else LeNet()

from torch.cuda.amp import autocast  # noqa: E402 - as it is printed

for inputs, labels in torch.utils.data.DataLoader(pictures(), batch_size=32):
    with autocast():
        outputs = model(inputs.to(device))
    loss = criterion(outputs, labels.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
