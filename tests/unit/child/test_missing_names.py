"""Names that a framework does not have are told; whatever may exist is not."""

from __future__ import annotations

import types

import pytest

from pacenote.child.attach import missing_names


class Tensor:
    def relu(self) -> None: ...


class Dynamic:
    def __getattr__(self, name: str) -> int:
        raise AssertionError("asked")


def framework() -> types.ModuleType:
    module = types.ModuleType("torch")
    functions = types.ModuleType("torch._C._nn")
    functions.relu = lambda x: x  # type: ignore[attr-defined]
    package = types.ModuleType("torch.utils")
    package.__path__ = []
    lazy = types.ModuleType("torch.lazy")
    lazy.__getattr__ = lambda name: 1  # type: ignore[method-assign]
    for name, value in (("nn", functions), ("utils", package), ("lazy", lazy), ("Tensor", Tensor), ("ops", Dynamic())):
        setattr(module, name, value)
    return module


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("torch.nn.relu", False),
        ("torch.nn.fused_relu_linear", True),
        ("torch.nn.fused.deep", True),
        ("torch.none", True),
        ("torch.Tensor.relu", False),
        ("torch.Tensor.fused", True),
        ("torch.Tensor.relu.anything", False),
        ("torch.utils.data", False),  # a module that may not be imported yet
        ("torch.lazy.anything", False),
        ("torch.ops.mine", False),
        ("paddle.none", False),  # of another framework
    ],
)
def test_a_name_is_missing_only_when_it_cannot_be_there(name: str, missing: bool) -> None:
    assert missing_names([name], framework()) == ([name] if missing else [])
