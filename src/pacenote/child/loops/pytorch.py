"""The PyTorch training loop, and a look at what is really in effect."""

from __future__ import annotations

import contextlib
import multiprocessing
from typing import Any, Callable, Iterable

import torch
from torch import nn

from ..workloads import Request, Training

_AUTOCAST = {"bf16": torch.bfloat16, "fp16": torch.float16}
_SHORT = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}


def precision(request: Request) -> Callable[[], Any]:
    """Return what makes the ``with`` block round forward and loss."""
    dtype = _AUTOCAST.get(request.lever("dtype", "fp32"))
    if dtype is None:
        return contextlib.nullcontext
    kind = torch.device(request.device).type
    return lambda: torch.autocast(kind, dtype=dtype)


def training(
    request: Request,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[Any],
    *,
    samples_per_step: int,
    data: dict[str, Any],
    expected_parameters: int,
    loader: Any = None,
) -> Training:
    """Put model, optimizer and batches into the usual loop."""
    device = torch.device(request.device)
    criterion = nn.CrossEntropyLoss()
    autocast = precision(request)
    half = request.lever("dtype", "fp32") == "fp16"
    scaler = torch.amp.GradScaler(device.type) if half else None
    channels_last = request.lever("memory_format", "default") == "channels_last"

    def run() -> None:
        model.train()
        while True:
            for inputs, labels in batches:
                inputs, labels = inputs.to(device), labels.to(device)
                if channels_last:
                    inputs = inputs.to(memory_format=torch.channels_last)
                optimizer.zero_grad()
                with autocast():
                    outputs = model(inputs)
                    loss = criterion(outputs, labels)
                if scaler is None:
                    loss.backward()
                    optimizer.step()
                else:
                    scaler.scale(loss).backward()
                    scaler.step(optimizer)
                    scaler.update()

    return Training(
        run,
        samples_per_step=samples_per_step,
        data=data,
        model=model,
        parameters=sum(weight.numel() for weight in model.parameters() if weight.requires_grad),
        expected_parameters=expected_parameters,
        loader=loader,
    )


class _Seen(BaseException):
    """Ends the loop after one forward pass; a BaseException, so that no handler on the way takes it."""


def look(training: Training) -> dict[str, Any]:
    """Run the training until the model has answered once more, and say what went in and out."""
    seen: dict[str, Any] = {}
    others = set(multiprocessing.active_children())

    def conv_input(_module: nn.Module, arguments: Any) -> None:
        x = arguments[0]
        last = x.is_contiguous(memory_format=torch.channels_last)
        seen["memory_format"] = "channels_last" if last and not x.is_contiguous() else "default"

    def root_output(_module: nn.Module, arguments: Any, output: Any) -> None:
        if arguments and isinstance(arguments[0], torch.Tensor) and arguments[0].ndim:
            seen["batch_size"] = int(arguments[0].shape[0])
        if isinstance(output, torch.Tensor):  # a third party's model may answer with anything
            seen["dtype"] = _dtype(output)
        if training.loader is not None:
            seen["loader_workers"] = len(set(multiprocessing.active_children()) - others)
        raise _Seen

    handles = [training.model.register_forward_hook(root_output)]
    convolution = next((part for part in training.model.modules() if isinstance(part, nn.Conv2d)), None)
    if convolution is not None:
        handles.append(convolution.register_forward_pre_hook(conv_input))
    try:
        training.run()
    except _Seen:
        pass
    finally:
        for handle in handles:
            handle.remove()
    return seen


def _dtype(output: torch.Tensor) -> str:
    """Word for the output's type; fp32 on a GPU that may use TF32 inside is said to be tf32."""
    if output.dtype == torch.float32 and output.device.type == "cuda" and torch.backends.cuda.matmul.allow_tf32:
        return "tf32"
    return _SHORT.get(output.dtype, str(output.dtype))


def set_precision(dtype: str) -> None:
    """Allow TF32 inside fp32 products exactly when it was asked for (PyTorch's own default allows it in cuDNN)."""
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    torch.backends.cudnn.allow_tf32 = dtype == "tf32"
