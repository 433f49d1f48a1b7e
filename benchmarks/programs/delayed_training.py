"""Train a small model with one delay in user code, in a random half of the steps; print steps and phases as JSON.

Called by benchmarks/truth.py: ``delayed_training.py FRAMEWORK PLACE DELAY_SHARE STEPS``. The delay spins to a clock and
notes how long it really took. It sits in code that users write: an item of a Dataset, an autograd Function, a subclass
of an optimizer, or between the calls of the loop. Inside a phase it sits near the end, because what runs after a delay
finds colder caches and is really slower (5 to 80 µs were seen): the delay's doing, but not the delay. The events go
through the same probe and the same segmentation as every measurement; nothing here tells them where the delay is.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import threading
import time
from array import array
from typing import Any

from pacenote.child import events, frameworks
from pacenote.child.recorder import Recorder
from pacenote.records import EventLog
from pacenote.segment import segment

PLACES = (
    *("dataset", "function_forward", "function_backward", "optimizer"),
    *("after_fetch", "before_backward", "after_step"),
)
WARMUP_STEPS = 40
BATCH, BATCHES = 16, 64


class Delay:
    """Spins for ``duration_ns`` in the steps where it is on, and adds up what it really took."""

    def __init__(self) -> None:
        self.duration_ns = 0
        self.on = False
        self.spent_ns = 0

    def __call__(self) -> None:
        """Spin, if it is this step's turn."""
        if not self.on:
            return
        began = now = time.perf_counter_ns()
        while now < began + self.duration_ns:
            now = time.perf_counter_ns()
        self.spent_ns += now - began


class Places:
    """One delay per place; only the one under test ever spins."""

    def __init__(self, place: str) -> None:
        self.delay = Delay()
        self._idle = Delay()
        self._place = place

    def at(self, place: str) -> Delay:
        """The delay to call at ``place``."""
        return self.delay if place == self._place else self._idle


def torch_loop(places: Places) -> Any:
    """The training loop in PyTorch, one step per ``next``."""
    import torch
    from torch import nn

    class Items(torch.utils.data.Dataset):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return BATCHES

        def __getitem__(self, index: int) -> Any:
            batch = torch.stack([torch.full((3, 24, 24), float(item % 7)) for item in range(BATCH)])
            labels = torch.arange(BATCH) % 10
            places.at("dataset")()
            return batch, labels

    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            places.at("function_forward")()
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient

    class SlowBack(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            places.at("function_backward")()
            return gradient

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.fc = nn.Conv2d(3, 8, 5), nn.Linear(8 * 20 * 20, 10)
            self.scale = nn.Parameter(torch.ones(1))  # the last of the backward pass, and nothing to add up after it

        def forward(self, x: Any) -> Any:
            hidden = self.conv(x * SlowBack.apply(self.scale)).relu()
            return self.fc(hidden.flatten(1))

    class Loss(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.criterion = nn.CrossEntropyLoss()

        def forward(self, outputs: Any, labels: Any) -> Any:
            return Slow.apply(self.criterion(outputs, labels))

    class SlowSGD(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            result = super().step(closure)
            places.at("optimizer")()
            return result

    model, criterion = Net(), Loss()
    optimizer = SlowSGD(model.parameters(), lr=1e-3)
    loader = torch.utils.data.DataLoader(Items(), batch_size=None)
    while True:
        for inputs, labels in loader:
            places.at("after_fetch")()
            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            places.at("before_backward")()
            loss.backward()
            optimizer.step()
            places.at("after_step")()
            yield


def paddle_loop(places: Places) -> Any:
    """The same in Paddle."""
    import numpy as np
    import paddle
    from paddle import nn

    # Paddle's loader always reads ahead in a thread, which hides a part of any delay. Here the dataset hands out the
    # next batch only once the loop has asked for it, so all of a delay is waited for, in the step that pays it.
    # The loop sleeps meanwhile, and waking from a sleep beyond some 200 µs costs about 10 µs more on a virtual machine
    # (its CPU polls that long before it halts). So the dataset works longer than that even without a delay.
    asked = threading.Semaphore(0)

    def image(level: int) -> Any:
        return np.sort(np.sin(np.arange(12 * 24 * 24, dtype="float32") * level))[: 3 * 24 * 24].reshape(3, 24, 24)

    class Items(paddle.io.Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return BATCHES

        def __getitem__(self, index: int) -> Any:
            asked.acquire()
            batch = np.stack([image(item % 7) for item in range(BATCH)])
            labels = np.arange(BATCH) % 10
            places.at("dataset")()
            return batch, labels

    class Slow(paddle.autograd.PyLayer):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            result = x * 1.0
            places.at("function_forward")()
            return result

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 1.0

    class SlowBack(paddle.autograd.PyLayer):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1.0

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            result = gradient * 1.0
            places.at("function_backward")()
            return result

    class Net(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.fc = nn.Conv2D(3, 8, 5), nn.Linear(8 * 20 * 20, 10)
            self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(1.0))

        def forward(self, x: Any) -> Any:
            hidden = nn.functional.relu(self.conv(x * SlowBack.apply(self.scale)))
            return self.fc(hidden.flatten(1))

    class Loss(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.criterion = nn.CrossEntropyLoss()

        def forward(self, outputs: Any, labels: Any) -> Any:
            return Slow.apply(self.criterion(outputs, labels))

    class SlowSGD(paddle.optimizer.SGD):  # type: ignore[misc]
        def step(self) -> None:
            super().step()
            places.at("optimizer")()

    model, criterion = Net(), Loss()
    optimizer = SlowSGD(learning_rate=1e-3, parameters=model.parameters())
    loader = paddle.io.DataLoader(Items(), batch_size=None)
    while True:
        batches = iter(loader)
        for _ in range(BATCHES):
            asked.release()
            inputs, labels = next(batches)
            places.at("after_fetch")()
            loss = criterion(model(inputs), labels)
            places.at("before_backward")()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            places.at("after_step")()
            yield


def run(framework: str, place: str, share: float, steps: int) -> dict[str, Any]:
    """Train, and give back per step: whether the delay was on, its real length, the step and its phases (ns)."""
    adapter = frameworks.create(framework)
    adapter.load()
    adapter.set_threads(1)
    recorder = Recorder(None)
    adapter.install_probe(recorder, "cpu")
    places = Places(place)
    loop = torch_loop(places) if framework == "pytorch" else paddle_loop(places)
    recorder.pause()
    recorder.stamp(events.code(events.RESUME))
    took = []
    for _ in range(WARMUP_STEPS):
        began = time.perf_counter_ns()
        next(loop)
        took.append(time.perf_counter_ns() - began)
    places.delay.duration_ns = int(share * statistics.median(took[WARMUP_STEPS // 2 :]))
    order, on, spent = random.Random(7), [], []
    for number in range(steps):
        # Pairs in random order: of each two neighbouring steps exactly one is delayed.
        places.delay.on = order.random() < 0.5 if number % 2 == 0 else not places.delay.on
        places.delay.spent_ns = 0
        next(loop)
        on.append(places.delay.on)
        spent.append(places.delay.spent_ns)
    recorder.stamp(events.code(events.PAUSE))
    t_ns, code = (array("q", values).tobytes() for values in recorder.ordered())
    log = EventLog(t_ns=t_ns, code=code, objects=recorder.objects)
    return {"on": on, "spent_ns": spent, **cut(log, place)}


def cut(log: EventLog, place: str) -> dict[str, Any]:
    """Segment, and line the steps up with the loop's: a delay after the step falls into the step that follows it."""
    found = segment(log)
    first = WARMUP_STEPS + (1 if place == "after_step" else 0)
    phases = {name: (values[first:] * 1e9).tolist() for name, values in found.phases.items()}
    return {"step_ns": (found.total_s[first:] * 1e9).tolist(), "phase_ns": phases, "steps_seen": len(found)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))) + "\n")
    sys.stdout.flush()
    os._exit(0)  # a reader thread still waits in the lockstep sampler, and Paddle would wait for it
