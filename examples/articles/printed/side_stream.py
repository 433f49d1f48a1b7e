"""Article 2: a copy on a stream of its own."""

import torch
from _lenet import LeNet, pictures
from torch import nn

model = LeNet().to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
for data, target in torch.utils.data.DataLoader(pictures(), batch_size=32):
    with torch.cuda.stream(torch.cuda.Stream()):
        data = data.to("cuda", non_blocking=True)
    loss = criterion(model(data), target.to("cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
