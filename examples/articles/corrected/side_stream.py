"""Article 2: a copy on a stream of its own, from pinned memory, and waited for before it is used."""

import torch
from _lenet import LeNet, pictures
from torch import nn

if not torch.cuda.is_available():
    raise SystemExit("this script needs a CUDA device: on the CPU there is nothing to copy.")
model = LeNet().to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
copies = torch.cuda.Stream()
for data, target in torch.utils.data.DataLoader(pictures(), batch_size=32, pin_memory=True):
    with torch.cuda.stream(copies):
        data = data.to("cuda", non_blocking=True)
        target = target.to("cuda", non_blocking=True)
    torch.cuda.current_stream().wait_stream(copies)
    data.record_stream(torch.cuda.current_stream())
    target.record_stream(torch.cuda.current_stream())
    loss = criterion(model(data), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
