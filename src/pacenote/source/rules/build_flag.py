"""The device is chosen by how the framework was built, not by what is there.

``is_compiled_with_cuda()`` is true of every CUDA wheel, on a machine without a card as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pacenote.source.rules import Rule
from pacenote.source.text import Source, Spot

_FLAGS = ("is_compiled_with_cuda", "is_compiled_with_xpu", "is_compiled_with_rocm")


def check(source: Source) -> Iterator[Spot]:
    """The flag decides alone between a device and another."""
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.IfExp, ast.If)) and isinstance(node.test, ast.Call):
            branches = [node.body] if isinstance(node, ast.IfExp) else node.body
            chosen = [
                one.value
                for branch in branches
                for one in ast.walk(branch)
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
            named = source.called(node.test)
            if named in _FLAGS and any(word.partition(":")[0] in ("gpu", "xpu", "cuda") for word in chosen):
                yield Spot(node.lineno, (("flag", named),))


PART = Rule(name="build_flag", check=check)
