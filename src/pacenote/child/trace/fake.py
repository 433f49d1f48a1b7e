"""Puts a model under fake tensors: shapes and dtypes without a byte of data."""

from __future__ import annotations

from typing import Any, Callable

import torch


def built(make: Callable[[], Any]) -> Any:
    """Build the model without memory for its weights where it can be, else as it is.

    Building inside the fake mode fails for models that read a value (``.item()``, ``.tolist()``) while they are
    made; the meta device fails for some of them too, and those are built for real.
    """
    try:
        with torch.device("meta"):
            return make()
    except (RuntimeError, NotImplementedError, TypeError, ValueError):
        return make()


def replace(model: Any) -> None:
    """Replace every parameter, buffer and plain tensor attribute by a fake one on the CPU; call under the mode."""
    known: dict[int, tuple[Any, Any]] = {}

    def twin(tensor: Any) -> Any:
        if id(tensor) not in known:
            fake = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")
            if isinstance(tensor, torch.nn.Parameter):
                fake = torch.nn.Parameter(fake, requires_grad=tensor.requires_grad)
            known[id(tensor)] = (tensor, fake)  # the original is kept, so that its id is not given again
        return known[id(tensor)][1]

    for module in model.modules():
        for held in (module._parameters, module._buffers):
            for name, tensor in held.items():
                if tensor is not None:
                    held[name] = twin(tensor)
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                vars(module)[name] = twin(value)
