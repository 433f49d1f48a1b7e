"""Work is put on a stream of its own, and nothing waits for it before its result is used.

Streams run side by side: the default stream may read a tensor that the other one has not written yet
(https://docs.pytorch.org/docs/stable/notes/cuda.html, "CUDA streams").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pacenote.source.rules import Rule
from pacenote.source.text import Source, Spot

_WAITS = ("wait_stream", "wait_event", "synchronize", "record_stream")


def check(source: Source) -> Iterator[Spot]:
    """``with torch.cuda.stream(…):`` in a script that never makes one stream wait for another."""
    if source.mentions(*_WAITS):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.With) and any(_is_stream(source, item.context_expr) for item in node.items):
            yield Spot(node.lineno)


def _is_stream(source: Source, expression: ast.expr) -> bool:
    if not isinstance(expression, ast.Call):
        return False
    name = source.name(expression.func)
    return name.endswith(("cuda.stream", "cuda.stream_guard", "device.stream_guard")) and bool(expression.args)


PART = Rule(name="side_stream", check=check)
