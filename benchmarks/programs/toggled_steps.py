"""Run steps with the probe toggled on and off, in one process and one thread; print thread-CPU times as JSON.

Called by benchmarks/overhead.py: ``toggled_steps.py FRAMEWORK MODEL PAIRS``. Each pair is one step with hooks and one
without, in random order, so whatever drifts hits both alike. Toggling happens outside the timed region.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from pacenote.child import frameworks
from pacenote.child.recorder import PatchSet, Recorder

WARMUP_STEPS = 30


def torch_step(model_name: str) -> Callable[[], None]:
    """A training step as a tutorial writes it, fed by a DataLoader that hands out a ready batch."""
    import torch
    from torch import nn

    class Ready(torch.utils.data.Dataset):  # type: ignore[type-arg]
        def __init__(self, *batch: Any) -> None:
            self.batch = batch

        def __len__(self) -> int:
            return 1 << 40

        def __getitem__(self, index: int) -> Any:
            return self.batch

    if model_name == "lenet-b32":
        model: Any = nn.Sequential(
            nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
        )  # fmt: skip
        batch = (torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,)))
    else:
        model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        batch = (torch.randn(32, 64), torch.randint(0, 10, (32,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    loader = torch.utils.data.DataLoader(
        Ready(*batch), batch_size=None, sampler=torch.utils.data.SequentialSampler(range(1 << 40))
    )
    fetch = iter(loader)

    def step() -> None:
        inputs, labels = next(fetch)
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()

    return step


def paddle_step(model_name: str) -> Callable[[], None]:
    """The same in Paddle."""
    import paddle
    from paddle import nn

    if model_name == "lenet-b32":
        model: Any = nn.Sequential(
            nn.Conv2D(3, 6, 5), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(6, 16, 5), nn.ReLU(), nn.MaxPool2D(2, 2),
            nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
        )  # fmt: skip
        inputs, labels = paddle.randn([32, 3, 32, 32]), paddle.randint(0, 10, [32])
    else:
        model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        inputs, labels = paddle.randn([32, 64]), paddle.randint(0, 10, [32])
    optimizer = paddle.optimizer.SGD(learning_rate=0.01, parameters=model.parameters())
    criterion = nn.CrossEntropyLoss()

    def step() -> None:
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()

    return step


def timed(step: Callable[[], None]) -> int:
    """Thread-CPU nanoseconds of one step."""
    began = time.thread_time_ns()
    step()
    return time.thread_time_ns() - began


def measure(step: Callable[[], None], patches: PatchSet, recorder: Recorder, pairs: int) -> list[list[int]]:
    """Pairs of (with hooks, without hooks) in nanoseconds of CPU time of this thread."""
    order = random.Random(0)
    result = []
    for number in range(pairs):
        with_first = order.random() < 0.5
        pair = [0, 0]
        for hooked in (with_first, not with_first):
            # Both kinds of step come right after the same two changes of the framework's classes.
            for change in (patches.off, patches.on) if hooked else (patches.on, patches.off):
                change()
            pair[0 if hooked else 1] = timed(step)
        result.append(pair)
        if number % 200 == 0:
            del recorder.t_ns[:]
            del recorder.code[:]
    return result


def main() -> None:
    """Print the pairs and how many events a step appends."""
    framework, model_name, pairs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    adapter = frameworks.create(framework)
    adapter.load()
    adapter.set_threads(1)
    recorder = Recorder(None)
    step = torch_step(model_name) if framework == "pytorch" else paddle_step(model_name)
    patches = adapter.install_probe(recorder, "cpu")
    recorder.pause()
    for _ in range(WARMUP_STEPS):
        step()
    del recorder.code[:]
    step()
    events_per_step = len(recorder.code)
    pairs_ns = measure(step, patches, recorder, pairs)
    sys.stdout.write(json.dumps({"events_per_step": events_per_step, "pairs_ns": pairs_ns}) + "\n")


if __name__ == "__main__":
    main()
