"""A paddle of a few dozen lines, in the manner of :mod:`fake_torch`."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import fake_torch
import pytest


def _tensor_class() -> type:
    class Tensor:
        stop_gradient = False

        def __init__(self, size: int = 1, place: str = "cpu", item_bytes: int = 4) -> None:
            self.size, self.place, self.item_bytes = size, place, item_bytes

        @property
        def shape(self) -> list[int]:
            return [self.size]

        def element_size(self) -> int:
            return self.item_bytes

        def to(self, place: str) -> Tensor:
            if place == "full:0":
                raise MemoryError("ResourceExhaustedError: no room")
            return self if place == self.place else type(self)(self.size, place, self.item_bytes)

        def cuda(self) -> Tensor:
            return self.to("gpu:0")

        def backward(self) -> None:
            return None

        def detach(self) -> float:
            return 0.25

    return Tensor


def _loader_module() -> SimpleNamespace:
    class Iter:
        def __init__(self, batches: list[Any]) -> None:
            self.batches = iter(batches)

        def __iter__(self) -> Iterator[Any]:
            return self

    class _DataLoaderIterSingleProcess(Iter):
        def __next__(self) -> Any:
            return next(self.batches)

    class _DataLoaderIterMultiProcess(Iter):
        def __next__(self) -> Any:
            return next(self.batches)

    class DataLoader:
        batch_size = 8
        prefetch_factor = 3

        def __init__(self, batches: list[Any], *, num_workers: int = 0, use_buffer_reader: bool = True) -> None:
            self.dataset, self.num_workers, self.use_buffer_reader = batches, num_workers, use_buffer_reader

        def __iter__(self) -> Iterator[Any]:
            cls = _DataLoaderIterMultiProcess if self.num_workers else _DataLoaderIterSingleProcess
            return cls(self.dataset)

    return SimpleNamespace(
        DataLoader=DataLoader,
        _DataLoaderIterSingleProcess=_DataLoaderIterSingleProcess,
        _DataLoaderIterMultiProcess=_DataLoaderIterMultiProcess,
    )


def _optimizer_classes() -> SimpleNamespace:
    class Optimizer:
        def __init__(self) -> None:
            self.updates = 0

        def step(self) -> None:
            self.updates += 1

        def minimize(self, loss: Any) -> tuple[None, None]:
            self.step()
            return None, None

        def clear_grad(self) -> None:
            return None

    class SGD(Optimizer):
        """Has no step of its own, like Paddle's."""

    class Adam(Optimizer):
        def step(self) -> None:
            super().step()

    return SimpleNamespace(Optimizer=Optimizer, SGD=SGD, Adam=Adam)


def _layer_class() -> type:
    class Layer:
        training = True

        def __init__(self, *weights: Any) -> None:
            self.weights = weights

        def parameters(self) -> tuple[Any, ...]:
            return self.weights

        def __call__(self, value: Any) -> Any:
            return self.forward(value)

        def forward(self, value: Any) -> Any:
            return value

    return Layer


class Cuda:
    """``paddle.device.cuda`` with some devices."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.resets = 0

    def device_count(self) -> int:
        return self.count

    def get_device_name(self, index: int) -> str:
        return f"Card {index}"

    def memory_allocated(self) -> int:
        return 11

    def memory_reserved(self) -> int:
        return 22

    def max_memory_allocated(self) -> int:
        return 33

    def reset_max_memory_allocated(self) -> None:
        self.resets += 1


def make(
    *, gpu: int | None = None, xpu: int | None = None, custom: tuple[str, ...] = (), custom_types: tuple[str, ...] = ()
) -> Any:
    """Return a module that looks like paddle; a count of None means a build without that device."""
    paddle: Any = types.ModuleType("paddle")
    paddle.__version__ = "3.3.9+fake"
    built = gpu is not None
    paddle.version = SimpleNamespace(
        cuda=lambda: "12.6" if built else "False", cudnn=lambda: "9.1" if built else "False"
    )
    paddle.is_compiled_with_cuda = lambda: built
    paddle.is_compiled_with_xpu = lambda: xpu is not None
    state = SimpleNamespace(grad=True, threads=[], seed=None, waited=[], flags={"FLAGS_benchmark": False})
    paddle.state = state
    paddle.device = SimpleNamespace(
        cuda=Cuda(gpu or 0),
        xpu=SimpleNamespace(device_count=lambda: xpu),
        get_all_custom_device_type=lambda: list(custom_types),
        get_available_custom_device=lambda: list(custom),
        synchronize=state.waited.append,
        Event=fake_torch.Event,
    )

    def get_flags(name: str) -> dict[str, Any]:
        if name not in state.flags:
            raise ValueError(f"flag {name} not found")
        return {name: state.flags[name]}

    paddle.get_flags = get_flags
    paddle.base = SimpleNamespace(core=SimpleNamespace(set_num_threads=state.threads.append))
    paddle.seed = lambda value: setattr(state, "seed", value)
    paddle.is_grad_enabled = lambda: state.grad
    paddle.Tensor = _tensor_class()
    paddle.nn = SimpleNamespace(Layer=_layer_class())
    paddle.optimizer = _optimizer_classes()
    module = _loader_module()
    paddle.io = SimpleNamespace(DataLoader=module.DataLoader, dataloader=SimpleNamespace(dataloader_iter=module))
    return paddle


def place(monkeypatch: pytest.MonkeyPatch, paddle: Any) -> None:
    """Make ``import paddle`` and the imports inside the probe find the fake."""
    for name, module in (
        ("paddle", paddle),
        ("paddle.io", paddle.io),
        ("paddle.io.dataloader", paddle.io.dataloader),
        ("paddle.io.dataloader.dataloader_iter", paddle.io.dataloader.dataloader_iter),
    ):
        monkeypatch.setitem(sys.modules, name, module)
