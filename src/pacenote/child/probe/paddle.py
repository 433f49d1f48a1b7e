"""Hooks for PaddlePaddle.

Patch points: ``__next__`` of both loader iterators and ``DataLoader.__iter__``, ``Tensor.to`` / ``.cuda``, the class of
the root layer, ``Tensor.backward``, and ``step``, ``minimize`` and ``clear_grad`` of every optimizer class that defines
them (``Model.fit`` calls ``minimize``; SGD has no ``step`` of its own).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .. import events
from ..recorder import PatchSet, Recorder
from .device_clock import EventClock
from .optimizers import OptimizerHooks
from .roots import Roots


def install(paddle: Any, recorder: Recorder, device: str) -> PatchSet:
    """Install every hook and return what undoes them."""
    patches = PatchSet()
    accelerated = device.partition(":")[0] != "cpu"
    if accelerated:
        recorder.use_device_clock(EventClock(lambda: paddle.device.Event(device, enable_timing=True)))
    roots = Roots(
        recorder,
        patches,
        base=paddle.nn.Layer,
        grad_enabled=paddle.is_grad_enabled,
        trainable=lambda layer: any(not parameter.stop_gradient for parameter in layer.parameters()),
        is_loss=lambda result: isinstance(result, paddle.Tensor) and not result.stop_gradient and result.size == 1,
    )
    _hook_loader(paddle, recorder, patches)
    if accelerated:  # on the CPU nothing moves
        _hook_copies(paddle, recorder, patches)
    _hook_backward(paddle, recorder, patches)
    OptimizerHooks(
        paddle.optimizer.Optimizer, recorder, patches, roots, steps=("step", "minimize"), clears=("clear_grad",)
    ).install()
    roots.look()
    return patches


def _hook_loader(paddle: Any, recorder: Recorder, patches: PatchSet) -> None:
    from paddle.io import DataLoader
    from paddle.io.dataloader import dataloader_iter as module

    grad_enabled, stamp, passed = paddle.is_grad_enabled, recorder.stamp, recorder.passed
    add_time, add_code, clock = recorder.hot()

    def fetching(fetch: Callable[..., Any]) -> Callable[..., Any]:
        def __next__(iterator: Any) -> Any:  # noqa: N807 - takes the place of the iterator's __next__
            code = getattr(iterator, "_pacenote_code", events.DATA_BEGIN)
            if grad_enabled():
                code |= events.GRAD_BIT
            add_time(clock())
            add_code(code)
            try:
                batch = fetch(iterator)
            finally:
                add_time(clock())
                add_code(code + 1)
            if recorder.anchor == "data":
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
    (add_time, add_code, clock), passed = recorder.hot(), recorder.passed

    def backward(tensor: Any, *args: Any, **kwargs: Any) -> None:
        add_time(clock())
        add_code(begin)
        try:
            original(tensor, *args, **kwargs)
        finally:
            add_time(clock())
            add_code(end)
        if recorder.wants_loss and tensor.size == 1:
            recorder.keep_loss(tensor.detach())
        if recorder.anchor == "backward":
            passed("backward")

    patches.set(paddle.Tensor, "backward", backward)
