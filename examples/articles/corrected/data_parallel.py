"""Article 2: in place of DataParallel, one process per device: torchrun --nproc-per-node 2 data_parallel.py."""

import os

import torch
from _lenet import LeNet, pictures
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

on_gpu = torch.cuda.is_available()
torch.distributed.init_process_group(backend="nccl" if on_gpu else "gloo")
local_rank = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local_rank) if on_gpu else torch.device("cpu")
model = DistributedDataParallel(LeNet().to(device), device_ids=[local_rank] if on_gpu else None)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
dataset = pictures()
sampler = DistributedSampler(dataset)
dataloader = DataLoader(dataset, batch_size=32, sampler=sampler)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for inputs, labels in dataloader:
        loss = criterion(model(inputs.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
torch.distributed.destroy_process_group()
