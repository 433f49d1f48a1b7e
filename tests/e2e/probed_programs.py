"""Small training programs in the styles people write, each run under the probe in a process of its own.

``python probed_programs.py NAME`` prints what was segmented as JSON; tests/e2e/test_probe.py knows what it must be.
"""

from __future__ import annotations

import json
import os
import sys
from array import array
from collections.abc import Callable
from typing import Any

from pacenote.child import events, frameworks
from pacenote.child.recorder import Recorder
from pacenote.records import EventLog
from pacenote.segment import segment

STEPS = 6


def _torch_parts(rows: int = 8 * STEPS) -> tuple[Any, Any, Any, Any]:
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    data = torch.utils.data.TensorDataset(torch.randn(rows, 4), torch.randint(0, 2, (rows,)))
    return torch, model, nn.CrossEntropyLoss(), torch.utils.data.DataLoader(data, batch_size=8)


def torch_plain() -> None:
    torch, model, criterion, loader = _torch_parts()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for inputs, labels in loader:
        optimizer.zero_grad()
        criterion(model(inputs), labels).backward()
        optimizer.step()


def torch_accumulation() -> None:
    torch, model, criterion, loader = _torch_parts(16 * STEPS)
    optimizer = torch.optim.Adam(model.parameters())
    for number, (inputs, labels) in enumerate(loader):
        (criterion(model(inputs), labels) / 2).backward()
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()


def torch_two_models() -> None:
    torch, first, criterion, loader = _torch_parts()
    second = torch.nn.Linear(4, 2)
    steps = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (first, second)]
    for inputs, labels in loader:
        for model, optimizer in zip((first, second), steps, strict=True):
            optimizer.zero_grad()
            criterion(model(inputs), labels).backward()
            optimizer.step()


def torch_closure() -> None:
    torch, model, criterion, loader = _torch_parts()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=2)
    for inputs, labels in loader:

        def closure(inputs: Any = inputs, labels: Any = labels) -> Any:
            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            return loss

        optimizer.step(closure)


def torch_validation() -> None:
    torch, model, criterion, loader = _torch_parts(8 * STEPS // 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model.train()
        for inputs, labels in loader:
            optimizer.zero_grad()
            criterion(model(inputs), labels).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for inputs, labels in loader:
                criterion(model(inputs), labels)


def torch_saved() -> None:
    """The model can still be pickled, and carries nothing of the probe."""
    import pickle

    torch, model, criterion, loader = _torch_parts()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for inputs, labels in loader:
        optimizer.zero_grad()
        criterion(model(inputs), labels).backward()
        optimizer.step()
        assert b"pacenote" not in pickle.dumps(model)


def _paddle_parts(rows: int = 8 * STEPS) -> tuple[Any, Any, Any, Any]:
    import numpy as np
    import paddle
    from paddle import nn

    paddle.seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    inputs = np.random.default_rng(0).normal(size=(rows, 4)).astype("float32")
    data = paddle.io.TensorDataset([paddle.to_tensor(inputs), paddle.to_tensor(np.arange(rows) % 2)])
    return paddle, model, nn.CrossEntropyLoss(), paddle.io.DataLoader(data, batch_size=8)


def paddle_plain() -> None:
    paddle, model, criterion, loader = _paddle_parts()
    optimizer = paddle.optimizer.SGD(learning_rate=0.1, parameters=model.parameters())
    for inputs, labels in loader:
        criterion(model(inputs), labels).backward()
        optimizer.step()
        optimizer.clear_grad()


def paddle_minimize() -> None:
    paddle, model, criterion, loader = _paddle_parts()
    optimizer = paddle.optimizer.Adam(parameters=model.parameters())
    for inputs, labels in loader:
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.minimize(loss)
        model.clear_gradients()


def paddle_subclass() -> None:
    """A user's optimizer that calls its base: one step, not two."""
    paddle, model, criterion, loader = _paddle_parts()

    class Mine(paddle.optimizer.SGD):  # type: ignore[misc]
        def step(self) -> None:
            super().step()

    optimizer = Mine(learning_rate=0.1, parameters=model.parameters())
    for inputs, labels in loader:
        criterion(model(inputs), labels).backward()
        optimizer.step()
        optimizer.clear_grad()


def paddle_fit() -> None:
    """The high-level API."""
    paddle, model, criterion, loader = _paddle_parts()
    wrapped = paddle.Model(model)
    wrapped.prepare(paddle.optimizer.SGD(learning_rate=0.1, parameters=model.parameters()), criterion)
    wrapped.fit(loader, epochs=1, verbose=0)


PROGRAMS: dict[str, Callable[[], None]] = {
    name: value for name, value in globals().items() if name.startswith(("torch_", "paddle_"))
}


def main() -> None:
    """Run one program and print its segmentation."""
    name = sys.argv[1]
    adapter = frameworks.create("pytorch" if name.startswith("torch") else "paddle")
    adapter.load()
    recorder = Recorder(None)
    patches = adapter.install_probe(recorder, "cpu")
    recorder.pause()
    recorder.stamp(events.code(events.RESUME))
    PROGRAMS[name]()
    recorder.stamp(events.code(events.PAUSE))
    patches.off()
    t_ns, code = (array("q", values).tobytes() for values in recorder.ordered())
    found = segment(EventLog(t_ns=t_ns, code=code, objects=recorder.objects))
    answer = {
        "steps": len(found),
        "anchor": found.anchor,
        "evaluation": found.evaluation.tolist(),
        "counts": {phase: counts.tolist() for phase, counts in found.counts.items()},
        "objects": [[thing["kind"], thing["name"]] for thing in recorder.objects],
    }
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
