"""Two ranks: by mp.spawn, by fork, or under torchrun."""

import os
import sys

import torch
import torch.distributed as dist
from common import data, model, report
from torch import nn
from torch.utils.data import DataLoader


def train(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    net = nn.parallel.DistributedDataParallel(model())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    sampler = torch.utils.data.DistributedSampler(data(), world_size, rank)
    steps = 0
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for inputs, targets in DataLoader(data(), batch_size=8, sampler=sampler):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs), targets).backward()
            optimizer.step()
            steps += 1
    if rank == 0:
        report(steps, net)
    dist.barrier()
    dist.destroy_process_group()


def main():
    if "RANK" in os.environ:
        train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
        return
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[2])
    if sys.argv[1] == "spawn":
        torch.multiprocessing.spawn(train, args=(2,), nprocs=2)
        return
    context = torch.multiprocessing.get_context("fork")
    processes = [context.Process(target=train, args=(rank, 2)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    sys.exit(max(process.exitcode for process in processes))


if __name__ == "__main__":
    main()
