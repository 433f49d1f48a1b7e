"""Finds every reason code that the program can give, by following constants to where a reason is wanted.

A *reason* is whatever is called that: a keyword, parameter, field, variable, attribute, dictionary key or function, and
what follows ``reason.`` in a key. From there the search goes backwards: through ``or``, conditionals, the variables of
the same function and the returned values of the functions that are called. Codes whose text is computed cannot be
found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

CODE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
NAMED = re.compile(r"(.*_)?reasons?", re.IGNORECASE)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def find(paths: Iterable[Path]) -> dict[str, str]:
    """Every code with the file it was first seen in."""
    search = _Search()
    for path in sorted(paths):
        search.read(str(path), ast.parse(path.read_text(encoding="utf-8")))
    return search.run()


def find_in(source: str) -> set[str]:
    """The codes of one piece of source."""
    search = _Search()
    search.read("source", ast.parse(source))
    return set(search.run())


class _Search:
    def __init__(self) -> None:
        self.trees: list[tuple[str, ast.AST]] = []
        self.parameters: dict[str, list[tuple[str, list[str]]]] = {}
        self.functions: dict[str, list[tuple[str, Function]]] = {}
        self.codes: dict[str, str] = {}
        self.followed: set[int] = set()

    def read(self, name: str, tree: ast.AST) -> None:
        """Take in one file: its functions and classes, and the order of what they are given."""
        self.trees.append((name, tree))
        for node in ast.walk(tree):
            if isinstance(node, Function):
                taken = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
                names = [one for one in taken if one not in ("self", "cls")]
                self.parameters.setdefault(node.name, []).append((name, names))
                self.functions.setdefault(node.name, []).append((name, node))
            elif isinstance(node, ast.ClassDef):
                fields = [item.target for item in node.body if isinstance(item, ast.AnnAssign)]
                names = [field.id for field in fields if isinstance(field, ast.Name)]
                self.parameters.setdefault(node.name, []).append((name, names))

    def run(self) -> dict[str, str]:
        """Follow every reason of every file."""
        for name, tree in self.trees:
            for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, Function))):
                for value in self._wanted(name, scope):
                    self._follow(name, scope, value)
        return self.codes

    def _wanted(self, home: str, scope: ast.AST) -> Iterator[ast.AST]:
        """Expressions in a scope whose value becomes a reason."""
        if isinstance(scope, Function) and NAMED.fullmatch(scope.name):
            yield from _returned(scope)
        for node in ast.walk(scope):
            if isinstance(node, ast.keyword) and node.arg and NAMED.fullmatch(node.arg):
                yield node.value
            elif isinstance(node, ast.Dict):
                yield from (value for key, value in zip(node.keys, node.values, strict=True) if _is_reason_key(key))
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from (part for target in targets for part in _assigned(target, node.value, NAMED))
            elif isinstance(node, ast.Call):
                yield from self._given(home, node)
            elif isinstance(node, ast.JoinedStr):
                yield from _behind_the_family(node)

    def _given(self, home: str, call: ast.Call) -> Iterator[ast.AST]:
        """Arguments whose parameter or field is called a reason; a private function is known in its own file only."""
        called = _called(call)
        for defined, names in self.parameters.get(called, []):
            if called.startswith("_") and defined != home:
                continue
            yield from (value for name, value in zip(names, call.args, strict=False) if NAMED.fullmatch(name))

    def _follow(self, name: str, scope: ast.AST, value: ast.AST) -> None:
        if id(value) in self.followed:
            return
        self.followed.add(id(value))
        if isinstance(value, ast.Constant):
            if isinstance(value.value, str) and CODE.fullmatch(value.value):
                self.codes.setdefault(value.value, name)
        elif isinstance(value, ast.BoolOp):
            self._follow_all(name, scope, value.values)
        elif isinstance(value, ast.IfExp):
            self._follow_all(name, scope, [value.body, value.orelse])
        elif isinstance(value, (ast.Tuple, ast.List)):
            self._follow_all(name, scope, value.elts)
        elif isinstance(value, ast.Dict):
            self._follow_all(name, scope, value.values)
        elif isinstance(value, ast.Name):
            self._follow_all(name, scope, _values_of(scope, value.id))
        elif isinstance(value, ast.Call):
            self._follow_call(name, scope, value)

    def _follow_call(self, name: str, scope: ast.AST, call: ast.Call) -> None:
        called = _called(call)
        if called in ("str", "get", "setdefault", "pop") and call.args:
            self._follow_all(name, scope, call.args[1:] if called != "str" else call.args)
        for home, function in self.functions.get(called, []):
            if function is not scope:
                self._follow_all(home, function, _returned(function))

    def _follow_all(self, name: str, scope: ast.AST, values: Iterable[ast.AST]) -> None:
        for value in values:
            self._follow(name, scope, value)


def _is_reason_key(key: ast.AST | None) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str) and bool(NAMED.fullmatch(key.value))


def _behind_the_family(text: ast.JoinedStr) -> Iterator[ast.AST]:
    """What ends a key that begins with ``reason.``."""
    for before, after in zip(text.values, text.values[1:], strict=False):
        if isinstance(before, ast.Constant) and before.value == "reason." and isinstance(after, ast.FormattedValue):
            yield after.value


def _called(call: ast.Call) -> str:
    function = call.func
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _returned(function: Function) -> list[ast.AST]:
    return [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]


def _values_of(scope: ast.AST, name: str) -> list[ast.AST]:
    """What is assigned to a variable in a scope."""
    exactly = re.compile(re.escape(name))
    found: list[ast.AST] = []
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            found += [part for target in node.targets for part in _assigned(target, node.value, exactly)]
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            found += _assigned(node.target, node.value, exactly)
    return found


def _assigned(target: ast.AST, value: ast.AST, wanted: re.Pattern[str]) -> list[ast.AST]:
    """The part of an assigned value that goes to a target of a wanted name."""
    if isinstance(target, ast.Name):
        return [value] if wanted.fullmatch(target.id) else []
    if isinstance(target, ast.Attribute):
        return [value] if wanted.fullmatch(target.attr) else []
    if isinstance(target, ast.Subscript):
        return _assigned(target.value, value, wanted)
    if isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            pairs = zip(target.elts, value.elts, strict=True)
            return [part for one, own in pairs for part in _assigned(one, own, wanted)]
        return [value] if any(_assigned(one, value, wanted) for one in target.elts) else []
    return []
