"""Gradients of several batches are added up, but the loss is not divided by their number.

The sum of N gradients with the same learning rate is a step N times as long: training with another learning rate than
the one that was written down.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pacenote.source.rules import Rule
from pacenote.source.text import Source, Spot

_MEANS = ("accum",)


def check(source: Source) -> Iterator[Spot]:
    """Loops with ``backward()`` in every pass and ``step()`` only in every N-th, where nothing is divided by N."""
    for loop in ast.walk(source.tree):
        if isinstance(loop, (ast.For, ast.While)):
            every = _every(source, loop)
            backward = _backward(source, loop)
            if every is not None and backward is not None and not _divided(source, loop, every):
                yield Spot(backward.lineno, (("every", ast.unparse(every)),))


def _every(source: Source, loop: ast.For | ast.While) -> ast.expr | None:
    """N, where an optimizer steps below ``if … % N``."""
    for statement in loop.body:
        if not isinstance(statement, ast.If):
            continue
        moduli = [node.right for node in ast.walk(statement.test) if isinstance(node, ast.BinOp) and _is_mod(node)]
        steps = [call for call in source.calls(statement) if source.called(call) == "step" and _is_optimizer(call)]
        if moduli and steps:
            return moduli[0]
    return None


def _is_mod(node: ast.BinOp) -> bool:
    is_text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)  # "%d" % step
    return isinstance(node.op, ast.Mod) and not is_text


def _is_optimizer(call: ast.Call) -> bool:
    """``optimizer.step()``, ``opt.step()``, ``scaler.step(optimizer)``: not a scheduler's."""
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    return "sched" not in owner.lower() and not owner.lower().startswith("lr")


def _backward(source: Source, loop: ast.For | ast.While) -> ast.Call | None:
    """A backward pass that every pass through the loop makes."""
    for statement in loop.body:
        if isinstance(statement, (ast.Expr, ast.With, ast.Assign)):
            for call in source.calls(statement):
                if source.called(call) == "backward":
                    return call
    return None


def _divided(source: Source, loop: ast.For | ast.While, every: ast.expr) -> bool:
    """Whether something in the loop is divided by N, or the gradients are."""
    wanted = ast.dump(every)
    for node in ast.walk(loop):
        divisor = None
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div):
            divisor = node.right if isinstance(node, ast.BinOp) else node.value
        elif isinstance(node, ast.Call) and source.called(node) in ("div", "div_", "divide") and node.args:
            divisor = node.args[-1]
        elif isinstance(node, ast.Call) and source.called(node) in ("mul_", "scale_") and node.args:
            return True  # gradients or losses scaled by hand
        if divisor is not None and (ast.dump(divisor) == wanted or any(m in ast.unparse(divisor) for m in _MEANS)):
            return True
    return source.mentions("no_sync", "accumulate(", "gradient_accumulation_steps=")


PART = Rule(name="undivided_accumulation", check=check)
