"""Hooks for PaddlePaddle.

Patch points: ``__next__`` of both loader iterators and ``DataLoader.__iter__``, ``Tensor.to`` / ``.cuda``, the class of
the root layer, ``Tensor.backward``, and ``step``, ``minimize`` and ``clear_grad`` of every optimizer class that defines
them (``Model.fit`` calls ``minimize``; SGD has no ``step`` of its own).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Optional

from .. import events
from ..recorder import PatchSet, Recorder
from .data_functions import DataFunctions
from .device_clock import EventClock, LateClock
from .optimizers import OptimizerHooks
from .roots import Roots, Watcher


def install(paddle: Any, recorder: Recorder, device: str) -> PatchSet:
    """Install every hook for training on ``device`` and return what undoes them."""
    accelerated = device.partition(":")[0] != "cpu"
    if accelerated:
        recorder.use_device_clock(EventClock(lambda: paddle.device.Event(device, enable_timing=True)))
    return _install(paddle, recorder, copies=accelerated)  # on the CPU nothing moves


def attach(paddle: Any, recorder: Recorder, noticed: Callable[[Any, str], None], data_function: str = "") -> PatchSet:
    """Install every hook in a program whose device is not known yet, and return what undoes them.

    Args:
        paddle: The framework.
        recorder: Where events go.
        noticed: Told of each root layer and the device that it is on when it is first called.
        data_function: Name of the function that makes batches; empty to find it.
    """
    built = paddle.is_compiled_with_cuda() or paddle.is_compiled_with_rocm() or paddle.is_compiled_with_xpu()
    late = LateClock(lambda device: paddle.device.Event(device, enable_timing=True)) if built else None
    if late is not None:
        recorder.use_device_clock(late)

    def seen(layer: Any) -> None:
        kept = next(iter(layer.parameters()), None)
        device = "cpu" if kept is None else _device_of(kept.place)
        if late is not None:
            late.start(device)
        noticed(layer, device)

    def address_of(value: Any) -> Optional[int]:
        if type(value) is not paddle.Tensor or not value.stop_gradient or not value.is_dense():
            return None
        return int(value.data_ptr()) or None

    functions = DataFunctions(
        recorder,
        address_of=address_of,
        grad_enabled=paddle.is_grad_enabled,
        base=paddle.nn.Layer,
        foreign=(os.path.dirname(paddle.__file__),),
        name=data_function,
    )
    return _install(paddle, recorder, copies=built, noticed=seen, watcher=functions)


def _batch_of(paddle: Any, inputs: tuple[Any, ...]) -> Optional[int]:
    """First dimension of the first tensor that has one."""
    for value in inputs:
        if isinstance(value, paddle.Tensor) and len(value.shape):
            return int(value.shape[0])
    return None


def _device_of(place: Any) -> str:
    """The name that ``paddle.set_device`` takes, of where a tensor lies: ``Place(gpu:0)`` is ``gpu:0``."""
    return str(place).partition("(")[2].rstrip(")") or "cpu"


def _install(
    paddle: Any,
    recorder: Recorder,
    *,
    copies: bool,
    noticed: Callable[[Any], None] = lambda layer: None,
    watcher: Optional[Watcher] = None,
) -> PatchSet:
    patches = PatchSet()
    roots = Roots(
        recorder,
        patches,
        base=paddle.nn.Layer,
        grad_enabled=paddle.is_grad_enabled,
        trainable=lambda layer: any(not parameter.stop_gradient for parameter in layer.parameters()),
        is_loss=lambda result: isinstance(result, paddle.Tensor) and not result.stop_gradient and result.size == 1,
        noticed=noticed,
        batch_of=lambda inputs: _batch_of(paddle, inputs),
        watcher=watcher,
    )
    _hook_loader(paddle, recorder, patches)
    if copies:
        _hook_copies(paddle, recorder, patches)
    _hook_backward(paddle, recorder, patches)
    OptimizerHooks(
        paddle.optimizer.Optimizer,
        recorder,
        patches,
        roots,
        steps=("step", "minimize"),
        clears=("clear_grad",),
        framework="paddle",
    ).install()
    roots.look()
    return patches


def _hook_loader(paddle: Any, recorder: Recorder, patches: PatchSet) -> None:
    from paddle.io import DataLoader
    from paddle.io.dataloader import dataloader_iter as module

    grad_enabled, stamp, passed = paddle.is_grad_enabled, recorder.stamp, recorder.passed
    (add, clock, mark), is_anchor = recorder.hot(), recorder.anchor == "data"

    def fetching(fetch: Callable[..., Any]) -> Callable[..., Any]:
        def __next__(iterator: Any) -> Any:  # noqa: N807 - takes the place of the iterator's __next__
            code = getattr(iterator, "_pacenote_code", events.DATA_BEGIN)
            if grad_enabled():
                code |= events.GRAD_BIT
            if mark is not None:
                mark(code)
            began_ns = clock()
            try:
                batch = fetch(iterator)
            finally:
                add((code, began_ns, clock()))
                if mark is not None:
                    mark(code + 1)
            if is_anchor:
                passed("data")
            return batch

        return __next__

    start = DataLoader.__iter__

    def __iter__(loader: Any) -> Any:  # noqa: N807 - takes the place of DataLoader.__iter__
        # Even without workers a thread reads ahead, and goes on while the program waits at the gate.
        ahead = int(getattr(loader, "prefetch_factor", 2)) * max(1, loader.num_workers)
        facts = {
            "dataset": type(loader.dataset).__name__,
            "workers": loader.num_workers,
            "prefetched_batches": ahead if loader.num_workers or loader.use_buffer_reader else 0,
        }
        index = recorder.index("loader", loader, batch_size=getattr(loader, "batch_size", None), **facts)
        stamp(events.code(events.DATA_BEGIN, grad_enabled(), index=index))
        try:
            iterator = start(loader)
            iterator._pacenote_code = events.code(events.DATA_BEGIN, False, index=index)
            return iterator
        finally:
            stamp(events.code(events.DATA_END, grad_enabled(), index=index))

    for cls in (module._DataLoaderIterSingleProcess, module._DataLoaderIterMultiProcess):
        patches.set(cls, "__next__", fetching(cls.__next__))
    patches.set(DataLoader, "__iter__", __iter__)


def _hook_copies(paddle: Any, recorder: Recorder, patches: PatchSet) -> None:
    begin, end = events.code(events.COPY_BEGIN), events.code(events.COPY_END)

    def copying(original: Callable[..., Any]) -> Callable[..., Any]:
        def copy(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            clock = recorder.device_clock
            if clock is not None:
                clock.mark(begin)
            began_ns = time.perf_counter_ns()
            try:
                result = original(tensor, *args, **kwargs)
            except BaseException:
                if clock is not None:
                    clock.drop_last()
                raise
            if result.place == tensor.place:
                if clock is not None:
                    clock.drop_last()
                return result
            recorder.stamp_at(begin, began_ns)
            recorder.stamp(end)
            recorder.copied_bytes += int(tensor.size) * int(tensor.element_size())
            return result

        return copy

    for name in ("to", "cuda"):
        patches.set(paddle.Tensor, name, copying(getattr(paddle.Tensor, name)))


def _hook_backward(paddle: Any, recorder: Recorder, patches: PatchSet) -> None:
    original = paddle.Tensor.backward
    begin, end = events.code(events.BACKWARD_BEGIN), events.code(events.BACKWARD_END)
    (add, clock, mark), passed, gate, wants_loss = recorder.hot(), recorder.passed, recorder.gate, recorder.wants_loss
    is_anchor = recorder.anchor == "backward"

    def backward(tensor: Any, *args: Any, **kwargs: Any) -> None:
        if mark is not None:
            mark(begin)
        began_ns = clock()
        try:
            original(tensor, *args, **kwargs)
        finally:
            ended_ns = clock()
            add((begin, began_ns, ended_ns))
            if mark is not None:
                mark(end)
        if wants_loss() and tensor.size == 1:
            recorder.keep_loss(tensor.detach())
        if is_anchor and ended_ns >= gate[0]:
            passed("backward")

    patches.set(paddle.Tensor, "backward", backward)
