"""Hooks for PyTorch.

Patch points (all found to fire for plain loops, Lightning, Hugging Face Trainer, accelerate and timm):
``_BaseDataLoaderIter.__next__`` and ``DataLoader.__iter__``, ``torch.Tensor.to`` / ``.cuda``, the class of the root
module, ``torch.autograd.backward``, ``step`` and ``zero_grad`` of every optimizer class.
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


def install(torch: Any, recorder: Recorder, device: str) -> PatchSet:
    """Install every hook for training on ``device`` and return what undoes them."""
    accelerated = device.partition(":")[0] != "cpu"
    if accelerated:
        recorder.use_device_clock(EventClock(lambda: torch.Event(device, enable_timing=True)))
    # On the CPU nothing moves, and transforms call ``Tensor.to`` once an item for the dtype.
    return _install(torch, recorder, copies=accelerated)


def attach(torch: Any, recorder: Recorder, noticed: Callable[[Any, str], None], data_function: str = "") -> PatchSet:
    """Install every hook in a program whose device is not known yet, and return what undoes them.

    Args:
        torch: The framework.
        recorder: Where events go.
        noticed: Told of each root module and the device that it is on when it is first called.
        data_function: Name of the function that makes batches; empty to find it.
    """
    late = _late_clock(torch)
    if late is not None:
        recorder.use_device_clock(late)

    def seen(module: Any) -> None:
        kept = next(iter(module.parameters()), None)
        device = "cpu" if kept is None else str(kept.device)
        if late is not None:
            late.start(device)
        noticed(module, device)

    def address_of(value: Any) -> Optional[int]:
        # Exactly a tensor: those that a compiler traces with have no memory.
        if type(value) is not torch.Tensor or value.requires_grad or value.layout is not torch.strided:
            return None
        return value.untyped_storage().data_ptr() or None

    functions = DataFunctions(
        recorder,
        address_of=address_of,
        grad_enabled=torch.is_grad_enabled,
        base=torch.nn.Module,
        foreign=(os.path.dirname(torch.__file__),),
        name=data_function,
    )
    return _install(torch, recorder, copies=late is not None, noticed=seen, watcher=functions)


def _batch_of(torch: Any, inputs: tuple[Any, ...]) -> Optional[int]:
    """First dimension of the first tensor that has one."""
    for value in inputs:
        if isinstance(value, torch.Tensor) and value.dim() > 0:
            return int(value.shape[0])
    return None


def _late_clock(torch: Any) -> Optional[LateClock]:
    """A clock for the accelerator this build is made for; none for a build that only knows the CPU."""
    if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
        built = [torch.backends.mps.is_built(), bool(getattr(torch.xpu, "_is_compiled", lambda: False)())]
        if not any(built):
            return None
    return LateClock(lambda device: torch.Event(device, enable_timing=True))


def _install(
    torch: Any,
    recorder: Recorder,
    *,
    copies: bool,
    noticed: Callable[[Any], None] = lambda module: None,
    watcher: Optional[Watcher] = None,
) -> PatchSet:
    patches = PatchSet()
    roots = Roots(
        recorder,
        patches,
        base=torch.nn.Module,
        grad_enabled=torch.is_grad_enabled,
        trainable=lambda module: any(parameter.requires_grad for parameter in module.parameters()),
        is_loss=lambda result: isinstance(result, torch.Tensor) and result.requires_grad and result.numel() == 1,
        noticed=noticed,
        batch_of=lambda inputs: _batch_of(torch, inputs),
        watcher=watcher,
    )
    hooks: list[Any] = list(roots.hooked)
    hooks += _hook_loader(torch, recorder, patches)
    if copies:
        hooks += _hook_copies(torch, recorder, patches)
    hooks += _hook_backward(torch, recorder, patches)
    optimizers = OptimizerHooks(
        torch.optim.Optimizer,
        recorder,
        patches,
        roots,
        steps=("step",),
        clears=("zero_grad",),
        framework="pytorch",
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

    (add, clock, mark), is_anchor = recorder.hot(), recorder.anchor == "data"

    def __next__(iterator: Any) -> Any:  # noqa: N807 - takes the place of _BaseDataLoaderIter.__next__
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
    (add, clock, mark), passed, gate, wants_loss = recorder.hot(), recorder.passed, recorder.gate, recorder.wants_loss
    is_anchor = recorder.anchor == "backward"

    def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
        if mark is not None:
            mark(begin)
        began_ns = clock()
        try:
            original(tensors, *args, **kwargs)
        finally:
            ended_ns = clock()
            add((begin, began_ns, ended_ns))
            if mark is not None:
                mark(end)
        if wants_loss() and isinstance(tensors, torch.Tensor) and tensors.numel() == 1:
            recorder.keep_loss(tensors.detach())
        if is_anchor and ended_ns >= gate[0]:
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
