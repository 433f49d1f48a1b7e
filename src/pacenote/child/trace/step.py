"""Traces one step: forward, backward and optimizer, twice, since the second sees the optimizer's states."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Callable

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from . import SCHEMA, fake
from .casts import AcceleratorWays
from .recording import Recorder

DTYPES = {"fp32": None, "tf32": None, "fp16": torch.float16, "bf16": torch.bfloat16}
OPTIMIZERS = ("sgd", "sgd-plain", "adamw", "adam", "none")


class Subject:
    """What is traced.

    Args:
        make: Builds the model; called once.
        inputs: Makes the arguments of one call: a tuple, or a dictionary of names.
        loss: Makes the loss from what the model returns; ``None`` for the sum.
        samples: Items in one step.
    """

    def __init__(
        self, make: Callable[[], Any], inputs: Callable[[], Any], loss: Callable[[Any], Any] | None, samples: int
    ) -> None:
        self.make = make
        self.inputs = inputs
        self.loss = loss
        self.samples = samples


class Program:
    """How it is trained.

    Args:
        train: Whether there is a backward pass.
        dtype: ``fp32``, ``tf32``, ``fp16`` or ``bf16``.
        pure: Whether the model itself is in half precision, instead of autocast.
        layout: ``contiguous`` or ``channels_last``.
        optimizer: One of ``OPTIMIZERS``.
        fused_optimizer: One kernel for all tensors instead of several passes.
        fused_attention: Whether ``scaled_dot_product_attention`` is one kernel.
        tf32_products: Whether fp32 matrix products may use TF32; convolutions always may.
    """

    def __init__(self, **given: Any) -> None:
        self.train = bool(given.get("train", True))
        self.dtype = str(given.get("dtype", "fp32"))
        self.pure = bool(given.get("pure", False))
        self.layout = str(given.get("layout", "contiguous"))
        self.optimizer = str(given.get("optimizer", "sgd")) if self.train else "none"
        self.fused_optimizer = bool(given.get("fused_optimizer", False))
        self.fused_attention = bool(given.get("fused_attention", True))
        self.tf32_products = bool(given.get("tf32_products", self.dtype == "tf32"))

    def facts(self) -> dict[str, Any]:
        """All of it, for the record."""
        return dict(vars(self))


def trace(name: str, subject: Subject, program: Program) -> dict[str, Any]:
    """Trace one step and return the document."""
    started_s = time.perf_counter()
    half = DTYPES[program.dtype]
    model = fake.built(subject.make)
    if half is not None and program.pure:
        model = model.to(half)  # before the fake mode: fake parameters cannot be converted in place
    if program.layout == "channels_last":
        model = model.to(memory_format=torch.channels_last)
    recorder = Recorder()
    with FakeTensorMode(allow_non_fake_inputs=True):
        fake.replace(model)
        model.train(program.train)
        given = _given(subject, half if program.pure else None, program.layout)
        with recorder:
            states = [*model.parameters(), *model.buffers()]
            for tensor in [*states, *(given.values() if isinstance(given, dict) else given)]:
                recorder.follow(tensor)
            optimizer = _optimizer(model, program)
            for last in (False, True) if optimizer is not None else (True,):
                recorder.forget()
                _step(recorder, model, given, optimizer, (subject, program, half if not program.pure else None))
                recorder.start(None)
                if last:
                    break
        parameters = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
        buffers = sum(buffer.numel() * buffer.element_size() for buffer in model.buffers())
        count = sum(parameter.numel() for parameter in model.parameters())
    return {
        "schema": SCHEMA,
        "name": name,
        "framework": f"torch {torch.__version__}",
        "samples": subject.samples,
        "program": program.facts(),
        "parameters": count,
        "parameter_bytes": parameters,
        "buffer_bytes": buffers,
        "peak_bytes": recorder.peak_bytes,
        "operations": recorder.operations(),
        "traced_s": round(time.perf_counter() - started_s, 3),
    }


def _given(subject: Subject, half: Any, layout: str) -> Any:
    """The arguments of the model, in the precision and layout of the program."""

    def fitted(tensor: Any) -> Any:
        if half is not None and tensor.is_floating_point():
            tensor = tensor.to(half)
        return (
            tensor.to(memory_format=torch.channels_last) if layout == "channels_last" and tensor.dim() == 4 else tensor
        )

    given = subject.inputs()
    if isinstance(given, dict):
        return {name: fitted(tensor) for name, tensor in given.items()}
    return tuple(fitted(tensor) for tensor in given)


def _optimizer(model: Any, program: Program) -> Any:
    if not program.train or program.optimizer == "none":
        return None
    # The CPU would loop over the tensors; CUDA takes them all at once.
    ways = {"fused": True} if program.fused_optimizer else {"foreach": True}
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if program.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=1e-4, **ways)
    if program.optimizer == "sgd-plain":
        return torch.optim.SGD(parameters, lr=0.1, **ways)
    kind = torch.optim.Adam if program.optimizer == "adam" else torch.optim.AdamW
    return kind(parameters, lr=1e-3, **ways)


def _step(recorder: Recorder, model: Any, given: Any, optimizer: Any, how: tuple[Subject, Program, Any]) -> None:
    subject, program, autocast = how
    if optimizer is not None:
        optimizer.zero_grad(set_to_none=True)
    elif program.train:
        model.zero_grad(set_to_none=True)
    recorder.start("forward")
    casting = torch.autocast("cpu", dtype=autocast) if autocast is not None else contextlib.nullcontext()
    grad = contextlib.nullcontext() if program.train else torch.no_grad()
    with grad, AcceleratorWays(program.fused_attention), casting:
        result = model(**given) if isinstance(given, dict) else model(*given)
        if not program.train:
            return
        loss = subject.loss(result) if subject.loss is not None else _summed(result)
    del result
    recorder.start("backward")
    loss.backward()
    del loss
    if optimizer is not None:
        recorder.start("optimizer")
        optimizer.step()


def _summed(result: Any) -> Any:
    """A scalar to go backward from, where the subject names no loss."""
    if isinstance(result, torch.Tensor):
        return result.float().sum()
    loss = getattr(result, "loss", None)
    if loss is not None:
        return loss
    first = next(iter(result.values() if isinstance(result, dict) else result))
    return _summed(first)
