"""The PaddlePaddle training loop, and a look at what is really in effect."""

from __future__ import annotations

import contextlib
import multiprocessing
from typing import Any, Callable, Iterable

import paddle
from paddle import nn

from ..workloads import Request, Training

_AUTOCAST = {"bf16": "bfloat16", "fp16": "float16"}
_SHORT = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


def precision(request: Request) -> Callable[[], Any]:
    """Return what makes the ``with`` block round forward and loss (Paddle's CPU build accepts and ignores it)."""
    dtype = _AUTOCAST.get(request.lever("dtype", "fp32"))
    if dtype is None:
        return contextlib.nullcontext
    return lambda: paddle.amp.auto_cast(dtype=dtype)


def training(
    request: Request,
    model: nn.Layer,
    optimizer: paddle.optimizer.Optimizer,
    batches: Iterable[Any],
    *,
    samples_per_step: int,
    data: dict[str, Any],
    expected_parameters: int,
    loader: Any = None,
) -> Training:
    """Put model, optimizer and batches into the usual loop; the loader itself moves batches to the device."""
    criterion = nn.CrossEntropyLoss()
    autocast = precision(request)
    half = request.lever("dtype", "fp32") == "fp16" and request.device != "cpu"
    scaler = paddle.amp.GradScaler() if half else None

    def run() -> None:
        model.train()
        while True:
            for inputs, labels in batches:
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
                optimizer.clear_grad()

    return Training(
        run,
        samples_per_step=samples_per_step,
        data=data,
        model=model,
        parameters=sum(int(weight.size) for weight in model.parameters() if not weight.stop_gradient),
        expected_parameters=expected_parameters,
        loader=loader,
    )


class _Seen(BaseException):
    """Ends the loop after one forward pass; a BaseException, so that no handler on the way takes it."""


def look(training: Training) -> dict[str, Any]:
    """Run the training until the model has answered once more, and say what went in and out."""
    seen: dict[str, Any] = {}
    others = set(multiprocessing.active_children())

    def conv_input(module: nn.Layer, _arguments: Any) -> None:
        seen["memory_format"] = "channels_last" if module._data_format == "NHWC" else "default"

    def root_output(_module: nn.Layer, arguments: Any, output: Any) -> None:
        if arguments and isinstance(arguments[0], paddle.Tensor) and arguments[0].ndim:
            seen["batch_size"] = int(arguments[0].shape[0])
        if isinstance(output, paddle.Tensor):  # a third party's model may answer with anything
            name = str(output.dtype).rsplit(".", 1)[-1]
            seen["dtype"] = _SHORT.get(name, name)
        if training.loader is not None:
            seen["loader_workers"] = len(set(multiprocessing.active_children()) - others)
        raise _Seen

    handles = [training.model.register_forward_post_hook(root_output)]
    convolution = next((part for part in training.model.sublayers() if isinstance(part, nn.Conv2D)), None)
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


def set_precision(dtype: str) -> None:
    """Paddle has no switch for TF32 at run time; the device's default stays."""
