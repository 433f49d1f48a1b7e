"""Article 2: one way to a device, and mixed precision with a scaled loss."""

import torch
from _lenet import LeNet, pictures
from torch import nn

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
half = torch.float16 if device.type == "cuda" else torch.bfloat16
model = LeNet().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
scaler = torch.amp.GradScaler(device.type, enabled=half is torch.float16)
for inputs, labels in torch.utils.data.DataLoader(pictures(), batch_size=32):
    with torch.autocast(device.type, dtype=half):
        outputs = model(inputs.to(device))
        loss = criterion(outputs, labels.to(device))
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
