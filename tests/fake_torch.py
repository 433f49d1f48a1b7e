"""A torch of a few dozen lines: devices that are there or not, tensors that know their place, loaders, optimizers.

Everything is made anew by :func:`make`, because the probe replaces methods on its classes.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest


class Backend:
    """What ``torch.cuda`` and its like answer; ``memory`` is the bytes of each device."""

    def __init__(self, count: int = 1, memory: tuple[int, ...] = ()) -> None:
        self.count = count
        self.calls: list[tuple[Any, ...]] = []
        if memory:
            self.memory_allocated = lambda *which: self._of(memory, "allocated", which)
            self.memory_reserved = lambda *which: 2 * self._of(memory, "reserved", which)
            self.max_memory_allocated = lambda *which: 3 * self._of(memory, "peak", which)
            self.reset_peak_memory_stats = lambda *which: self.calls.append(("reset", *which))

    def _of(self, memory: tuple[int, ...], what: str, which: tuple[str, ...]) -> int:
        self.calls.append((what, *which))
        return memory[int(which[0].partition(":")[2]) if which else 0]

    def is_available(self) -> bool:
        return self.count > 0

    def device_count(self) -> int:
        return self.count

    def get_device_name(self, index: int) -> str:
        return f"Card {index}"

    def synchronize(self, *which: str) -> None:
        self.calls.append(("synchronize", *which))


class OutOfMemoryError(RuntimeError):
    """torch's own."""


def _tensor_class() -> type:
    class Tensor:
        requires_grad = False

        def __init__(self, size: int = 1, device: str = "cpu", item_bytes: int = 4) -> None:
            self.size, self.device, self.item_bytes = size, device, item_bytes

        @property
        def shape(self) -> tuple[int]:
            return (self.size,)

        def dim(self) -> int:
            return 1

        def numel(self) -> int:
            return self.size

        def element_size(self) -> int:
            return self.item_bytes

        def to(self, device: str) -> Tensor:
            if device == "full:0":
                raise OutOfMemoryError("no room")
            return self if device == self.device else type(self)(self.size, device, self.item_bytes)

        def cuda(self) -> Tensor:
            return self.to("cuda:0")

        def detach(self) -> float:
            return 0.5

    return Tensor


def _loader_classes() -> tuple[type, type]:
    class _BaseDataLoaderIter:
        def __init__(self, batches: list[Any]) -> None:
            self.batches = iter(batches)

        def __iter__(self) -> Iterator[Any]:
            return self

        def __next__(self) -> Any:
            return next(self.batches)

    class DataLoader:
        batch_size = 8

        def __init__(self, batches: list[Any], num_workers: int = 0, prefetch_factor: int | None = None) -> None:
            self.dataset = batches
            self.num_workers, self.prefetch_factor = num_workers, prefetch_factor

        def __iter__(self) -> Iterator[Any]:
            return _BaseDataLoaderIter(self.dataset)

    return _BaseDataLoaderIter, DataLoader


def _optimizer_class() -> type:
    """An optimizer whose constructor, like torch's, wraps the ``step`` of the object's class once."""

    class Optimizer:
        def __init__(self) -> None:
            cls = type(self)
            original = cls.step
            if getattr(original, "hooked", False):
                return

            def wrapped(optimizer: Any) -> Any:
                return original(optimizer)

            wrapped.hooked = True  # type: ignore[attr-defined]
            cls.step = wrapped  # type: ignore[method-assign]

        def step(self) -> None:
            self.update()

        def update(self) -> None:
            return None

        def zero_grad(self) -> str:
            return "cleared"

    return Optimizer


def _module_class() -> type:
    class Module:
        training = True

        def __init__(self, *weights: Any) -> None:
            self.weights = weights

        def parameters(self) -> tuple[Any, ...]:
            return self.weights

        def __call__(self, value: Any) -> Any:
            return self.forward(value)

        def forward(self, value: Any) -> Any:
            return value

    return Module


class Event:
    """One timed event: it happens when the fake device's clock says, one millisecond after the one before."""

    made: list[tuple[str, bool]] = []
    now_ms = 0.0

    def __init__(self, device: str, *, enable_timing: bool) -> None:
        self.made.append((device, enable_timing))
        self.at_ms = -1.0

    def record(self) -> None:
        Event.now_ms += 1.0
        self.at_ms = Event.now_ms

    def synchronize(self) -> None:
        return None

    def elapsed_time(self, other: Event) -> float:
        return other.at_ms - self.at_ms


def make(*, cuda: str | None = None, hip: str | None = None, **backends: Backend) -> types.ModuleType:
    """Return a module that looks like torch; ``backends`` are its ``torch.cuda``, ``torch.xpu`` …"""
    torch: Any = types.ModuleType("torch")
    torch.__version__ = "2.9.9+fake"
    torch.version = SimpleNamespace(cuda=cuda, hip=hip)
    torch.backends = SimpleNamespace(
        cudnn=SimpleNamespace(is_available=lambda: cuda is not None, version=lambda: 90100),
        cpu=SimpleNamespace(get_cpu_capability=lambda: "AVX512"),
        mkldnn=SimpleNamespace(is_available=lambda: True),
        mkl=SimpleNamespace(is_available=lambda: False),
        mps=SimpleNamespace(is_built=lambda: "mps" in backends, is_available=lambda: backends["mps"].count > 0),
    )
    torch.cuda = Backend(0)
    torch.xpu = SimpleNamespace(is_available=lambda: False, _is_compiled=lambda: False)
    torch.mps = SimpleNamespace()
    for name, backend in backends.items():
        setattr(torch, name, backend)
    if "xpu" in backends:
        torch.xpu._is_compiled = lambda: True
    state = SimpleNamespace(threads=4, seed=None, grad=True, anomaly=False, deterministic=False, profiling=False)
    torch.state = state
    torch.get_num_threads = lambda: state.threads
    torch.get_num_interop_threads = lambda: 2
    torch.set_num_threads = lambda count: setattr(state, "threads", count)
    torch.manual_seed = lambda value: setattr(state, "seed", value)
    torch.is_grad_enabled = lambda: state.grad
    torch.is_anomaly_enabled = lambda: state.anomaly
    torch.are_deterministic_algorithms_enabled = lambda: state.deterministic
    torch._C = SimpleNamespace(_autograd=SimpleNamespace(_profiler_enabled=lambda: state.profiling))
    torch.OutOfMemoryError = OutOfMemoryError
    torch.Tensor = _tensor_class()
    torch.Event = Event
    torch.nn = SimpleNamespace(Module=_module_class())
    torch.autograd = SimpleNamespace(backward=lambda tensors, *args, **kwargs: None)
    base, loader = _loader_classes()
    torch.utils = SimpleNamespace(
        data=SimpleNamespace(dataloader=SimpleNamespace(_BaseDataLoaderIter=base, DataLoader=loader), DataLoader=loader)
    )
    torch.optim = SimpleNamespace(Optimizer=_optimizer_class())
    return torch  # type: ignore[no-any-return]


def place(monkeypatch: pytest.MonkeyPatch, torch: Any, compiler: Callable[[Any, Any], None] | None = None) -> None:
    """Make ``import torch`` and the imports inside the probe find the fake; ``compiler`` is told what to skip."""
    frame: Any = None
    if compiler is not None:
        frame = types.ModuleType("torch._C._dynamo.eval_frame")
        frame._FrameAction = SimpleNamespace(SKIP="skip", DEFAULT="default")
        frame._FrameExecStrategy = lambda here, inside: (here, inside)
        frame.set_code_exec_strategy = compiler
    for name, module in (
        ("torch", torch),
        ("torch.utils", torch.utils),
        ("torch.utils.data", torch.utils.data),
        ("torch.optim", torch.optim),
        ("torch._C", torch._C),
        ("torch._C._dynamo", SimpleNamespace()),
        ("torch._C._dynamo.eval_frame", frame),
    ):
        monkeypatch.setitem(sys.modules, name, module)
