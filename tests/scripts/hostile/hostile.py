"""Does one thing that a measured script should not get into trouble for; which one its argument says."""

import io
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pytorch"))

import torch
from common import data, model, report
from torch import nn
from torch.utils import data as torch_data

what = sys.argv[1]
if what == "stdout":
    real, sys.stdout = sys.stdout, io.StringIO()
elif what == "chdir":
    os.chdir("/")
elif what == "temp":
    shutil.rmtree(tempfile.mkdtemp())
    tempfile.tempdir = None
    os.environ["TMPDIR"] = "/nonexistent"
elif what == "loader":

    class Mine:
        def __init__(self, dataset, batch_size):
            self.dataset, self.batch_size = dataset, batch_size

        def __iter__(self):
            for at in range(0, len(self.dataset), self.batch_size):
                rows = [self.dataset[row] for row in range(at, at + self.batch_size)]
                yield torch.stack([row[0] for row in rows]), torch.stack([row[1] for row in rows])

    torch_data.DataLoader = Mine
elif what == "descriptors":
    os.closerange(3, 256)

net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
steps = 0
for _ in range(3):
    for inputs, targets in torch_data.DataLoader(data(), batch_size=16):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), targets).backward()
        optimizer.step()
        steps += 1
if what == "stdout":
    sys.stdout = real
elif what == "flood":
    line = "x" * 1023
    for _ in range(100 * 1024):
        print(line)
elif what == "fork":
    if os.fork() == 0:
        os._exit(0)
    os.wait()
report(steps, net)
if what == "fork":
    os._exit(0)
