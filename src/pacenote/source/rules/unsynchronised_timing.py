"""Time is taken around work of an accelerator without waiting for it.

Kernels are launched and run later: a clock read right after them tells how long launching took
(pytorch/pytorch#24318 is one of many places where that was taken for a result).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pacenote.source.rules import Rule
from pacenote.source.text import Source, Spot

_CLOCKS = frozenset({"time.time", "time.perf_counter", "time.monotonic", "timeit.default_timer"})
_WAITS = frozenset({"synchronize", "item", "cpu", "numpy", "tolist", "wait", "float", "elapsed_time"})
_WORK = frozenset({"backward", "minimize", "fit"})

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


def check(source: Source) -> Iterator[Spot]:
    """Differences of two clock readings in one function, with a backward pass between them and nothing that waits."""
    if not source.on_accelerator():
        return
    for scope in ast.walk(source.tree):
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            yield from _in_scope(source, scope)


def _in_scope(source: Source, scope: _Function) -> Iterator[Spot]:
    own = list(_own(scope))
    clocks = [node for node in own if isinstance(node, ast.Call) and source.name(node.func) in _CLOCKS]
    started = {
        target.id: node.lineno
        for node in own
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value in clocks
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    parameters = {argument.arg for argument in scope.args.args} if not isinstance(scope, ast.Module) else set()
    outer = _outer_parameters(source, scope)
    for node in own:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.right, ast.Name):
            began = started.get(node.right.id)
            if began is None or not any(clock.lineno == node.lineno or _is_reading(node, clock) for clock in clocks):
                continue
            between = [one for one in own if isinstance(one, ast.Call) and began < one.lineno <= node.lineno]
            names = {source.called(one) for one in between}
            work = names & _WORK or any(
                isinstance(one.func, ast.Name) and one.func.id in parameters | outer for one in between
            )
            if work and not names & _WAITS:
                yield Spot(node.lineno, (("began_line", began),))


def _own(scope: _Function) -> Iterator[ast.AST]:
    """Every node of a scope that lies in no inner function."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def _is_reading(node: ast.BinOp, clock: ast.Call) -> bool:
    return node.left is clock


def _outer_parameters(source: Source, scope: _Function) -> set[str]:
    """Parameters of the function around a scope: a decorator times the function that it was given."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef) and node is not scope and scope in node.body:
            return {argument.arg for argument in node.args.args}
    return set()


PART = Rule(name="unsynchronised_timing", check=check)
