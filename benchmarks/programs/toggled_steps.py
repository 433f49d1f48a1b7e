"""Run steps with the probe toggled on and off, in one process and one thread; print thread-CPU times as JSON.

Called by benchmarks/overhead.py: ``toggled_steps.py FRAMEWORK MODEL PAIRS``. Each pair is one step with hooks and one
without, in random order, so whatever drifts hits both alike. Toggling happens outside the timed region.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from programs.child_run import CACHE

from pacenote.child import frameworks, workloads
from pacenote.child.recorder import PatchSet, Recorder

WARMUP_STEPS = 30


def lenet_step(adapter: Any) -> Callable[[], None]:
    """A step of the built-in LeNet at batch 32: its own model, and its own loader with the tutorial's transforms."""
    request = workloads.Request(
        adapter=adapter, device="cpu", data_mode="real", data_dir=None, cache_dir=str(CACHE), seed=0,
        levers={"batch_size": 32},
    )  # fmt: skip
    training = workloads.find("lenet").builders[adapter.name](request)
    if adapter.name == "pytorch":
        return torch_loop(training.model, endless(training.loader))
    return paddle_loop(training.model, endless(training.loader))


def endless(loader: Any) -> Iterator[Any]:
    """Epochs for ever."""
    while True:
        yield from loader


def torch_loop(model: Any, batches: Iterator[Any]) -> Callable[[], None]:
    """One step per call, as a tutorial writes it."""
    import torch

    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()

    def step() -> None:
        inputs, labels = next(batches)
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()

    return step


def paddle_loop(model: Any, batches: Iterator[Any]) -> Callable[[], None]:
    """The same in Paddle."""
    import paddle

    optimizer = paddle.optimizer.Momentum(learning_rate=0.01, momentum=0.9, parameters=model.parameters())
    criterion = paddle.nn.CrossEntropyLoss()

    def step() -> None:
        inputs, labels = next(batches)
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()

    return step


def short_step(framework: str) -> Callable[[], None]:
    """A step of about 0.25 ms: a small net, and a loader that hands out a ready batch."""
    if framework == "paddle":
        import paddle
        from paddle import nn

        model: Any = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        batch = (paddle.randn([32, 64]), paddle.randint(0, 10, [32]))
        return paddle_loop(model, itertools.repeat(batch))
    import torch

    class Ready(torch.utils.data.Dataset):  # type: ignore[type-arg]
        batch = (torch.randn(32, 64), torch.randint(0, 10, (32,)))

        def __len__(self) -> int:
            return 1 << 40

        def __getitem__(self, index: int) -> Any:
            return self.batch

    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    order = torch.utils.data.SequentialSampler(range(1 << 40))
    return torch_loop(model, iter(torch.utils.data.DataLoader(Ready(), batch_size=None, sampler=order)))


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
            recorder.clear()
    return result


def main() -> None:
    """Print the pairs and how many events a step appends."""
    framework, model_name, pairs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    adapter = frameworks.create(framework)
    adapter.load()
    adapter.set_threads(1)
    recorder = Recorder(None)
    patches = adapter.install_probe(recorder, "cpu")
    step = short_step(framework) if model_name == "short" else lenet_step(adapter)
    recorder.pause()
    for _ in range(WARMUP_STEPS):
        step()
    recorder.clear()
    step()
    events_per_step = len(recorder.code)
    pairs_ns = measure(step, patches, recorder, pairs)
    sys.stdout.write(json.dumps({"events_per_step": events_per_step, "pairs_ns": pairs_ns}) + "\n")


if __name__ == "__main__":
    main()
