"""A dataset makes Paddle tensors, and loader workers shall run it.

A tensor is made on the current device. A worker is a forked process, in which a CUDA context cannot be used again; on
the CPU each sample is one more tensor that is turned back into an array to be sent to the parent.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pacenote.source.rules import Rule
from pacenote.source.text import Source, Spot, keyword

_MAKERS = frozenset({"randn", "rand", "randint", "zeros", "ones", "full", "to_tensor", "arange", "normal", "uniform"})


def check(source: Source) -> Iterator[Spot]:
    """``paddle.randn`` and the like in ``__getitem__``, in a script with ``num_workers`` above 0."""
    if not any(_has_workers(call) for call in source.calls() if source.called(call) == "DataLoader"):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__getitem__":
            for call in source.calls(node):
                name = source.name(call.func)
                if name.startswith("paddle.") and name.rpartition(".")[2] in _MAKERS:
                    yield Spot(call.lineno, (("function", name),))
                    break


def _has_workers(call: ast.Call) -> bool:
    value = keyword(call, "num_workers")
    return value is not None and not (isinstance(value, ast.Constant) and value.value == 0)


PART = Rule(name="tensors_in_workers", check=check)
