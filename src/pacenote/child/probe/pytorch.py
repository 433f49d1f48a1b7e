"""Hooks for PyTorch.

Patch points (all found to fire for plain loops, Lightning, Hugging Face Trainer, accelerate and timm):
``_BaseDataLoaderIter.__next__`` and ``DataLoader.__iter__``, ``torch.Tensor.to`` / ``.cuda``, the class of the root
module, ``torch.autograd.backward``, ``step`` and ``zero_grad`` of every optimizer class.
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


def install(torch: Any, recorder: Recorder, device: str) -> PatchSet:
    """Install every hook and return what undoes them."""
    patches = PatchSet()
    accelerated = device.partition(":")[0] != "cpu"
    if accelerated:
        recorder.use_device_clock(EventClock(lambda: torch.Event(device, enable_timing=True)))
    roots = Roots(
        recorder,
        patches,
        base=torch.nn.Module,
        grad_enabled=torch.is_grad_enabled,
        trainable=lambda module: any(parameter.requires_grad for parameter in module.parameters()),
        is_loss=lambda result: isinstance(result, torch.Tensor) and result.requires_grad and result.numel() == 1,
    )
    hooks: list[Any] = list(roots.hooked)
    hooks += _hook_loader(torch, recorder, patches)
    if accelerated:  # on the CPU nothing moves, and transforms call ``Tensor.to`` once an item for the dtype
        hooks += _hook_copies(torch, recorder, patches)
    hooks += _hook_backward(torch, recorder, patches)
    optimizers = OptimizerHooks(
        torch.optim.Optimizer,
        recorder,
        patches,
        roots,
        steps=("step",),
        clears=("zero_grad",),
        # PyTorch wraps ``step`` when the first object of a class is made, and marks it so; ours must go round that.
        ready=lambda method: method.__name__ != "step" or getattr(method, "hooked", False),
    )
    optimizers.on_hook = lambda hook: _hide_from_compiler(torch, [hook])
    optimizers.install()
    roots.look()
    _hide_from_compiler(torch, hooks)
    return patches


def _hook_loader(torch: Any, recorder: Recorder, patches: PatchSet) -> list[Callable[..., Any]]:
    from torch.utils.data import dataloader

    base, loader_class = dataloader._BaseDataLoaderIter, dataloader.DataLoader
    fetch, start = base.__next__, loader_class.__iter__
    grad_enabled, stamp, passed = torch.is_grad_enabled, recorder.stamp, recorder.passed

    def describe(loader: Any) -> int:
        return recorder.index(
            "loader",
            loader,
            dataset=type(loader.dataset).__name__,
            batch_size=loader.batch_size,
            workers=loader.num_workers,
            prefetched_batches=loader.num_workers * int(loader.prefetch_factor or 0),
        )

    def __iter__(loader: Any) -> Any:  # noqa: N807 - takes the place of DataLoader.__iter__
        index = describe(loader)
        stamp(events.code(events.DATA_BEGIN, grad_enabled(), index=index))
        try:
            iterator = start(loader)
            iterator._pacenote_code = events.code(events.DATA_BEGIN, False, index=index)
            return iterator
        finally:
            stamp(events.code(events.DATA_END, grad_enabled(), index=index))

    add_time, add_code, clock = recorder.hot()

    def __next__(iterator: Any) -> Any:  # noqa: N807 - takes the place of _BaseDataLoaderIter.__next__
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

    patches.set(base, "__next__", __next__)
    patches.set(loader_class, "__iter__", __iter__)
    return [__iter__, __next__]


def _hook_copies(torch: Any, recorder: Recorder, patches: PatchSet) -> list[Callable[..., Any]]:
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
            if result.device == tensor.device:
                if clock is not None:
                    clock.drop_last()
                return result
            recorder.stamp_at(begin, began_ns)
            recorder.stamp(end)
            recorder.copied_bytes += tensor.numel() * tensor.element_size()
            return result

        return copy

    hooks = []
    for name in ("to", "cuda"):
        hook = copying(getattr(torch.Tensor, name))
        patches.set(torch.Tensor, name, hook)
        hooks.append(hook)
    return hooks


def _hook_backward(torch: Any, recorder: Recorder, patches: PatchSet) -> list[Callable[..., Any]]:
    original = torch.autograd.backward
    begin, end = events.code(events.BACKWARD_BEGIN), events.code(events.BACKWARD_END)
    (add_time, add_code, clock), passed = recorder.hot(), recorder.passed

    def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
        add_time(clock())
        add_code(begin)
        try:
            original(tensors, *args, **kwargs)
        finally:
            add_time(clock())
            add_code(end)
        if recorder.wants_loss and isinstance(tensors, torch.Tensor) and tensors.numel() == 1:
            recorder.keep_loss(tensors.detach())
        if recorder.anchor == "backward":
            passed("backward")

    patches.set(torch.autograd, "backward", backward)
    return [backward]


def _hide_from_compiler(torch: Any, hooks: list[Callable[..., Any]]) -> None:
    """Keep torch.compile from tracing into the hooks, which append to growing lists and would recompile for ever.

    Uses the compiler's own per-code strategy, which is private: when it is not there the hooks are traced, which costs
    recompilations but no correctness.
    """
    try:
        from torch._C._dynamo.eval_frame import (
            _FrameAction,
            _FrameExecStrategy,
            set_code_exec_strategy,
        )
    except ImportError:
        return
    skip = _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.DEFAULT)
    for hook in hooks:
        set_code_exec_strategy(hook.__code__, skip)
