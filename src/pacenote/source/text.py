"""One script as the rules read it: its syntax tree, with imported names resolved."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Spot:
    """One place where a rule found something."""

    line: int
    params: tuple[tuple[str, str | int | bool], ...] = ()


@dataclass
class Source:
    """A parsed script.

    Attributes:
        text: Its text.
        tree: Its syntax tree.
        imports: What each imported name stands for: ``nn`` is ``torch.nn``.
    """

    text: str
    tree: ast.Module
    imports: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    top = one.name.partition(".")[0]
                    self.imports[one.asname or top] = one.name if one.asname else top
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for one in node.names:
                    self.imports[one.asname or one.name] = f"{node.module}.{one.name}"

    def name(self, node: ast.AST) -> str:
        """Dotted name of an expression with its import resolved; empty when it is none."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self.imports.get(node.id, node.id))
        return ".".join(reversed(parts))

    def calls(self, inside: ast.AST | None = None) -> Iterator[ast.Call]:
        """Every call, in the whole script or inside one node."""
        for node in ast.walk(self.tree if inside is None else inside):
            if isinstance(node, ast.Call):
                yield node

    def called(self, call: ast.Call) -> str:
        """Last part of what a call calls: ``backward`` for ``loss.mean().backward()``."""
        if isinstance(call.func, ast.Attribute):
            return call.func.attr
        return self.name(call.func).rpartition(".")[2]

    def mentions(self, *words: str) -> bool:
        """Whether a name, an attribute, an argument or a text of the script holds one of some words."""
        for node in ast.walk(self.tree):
            for value in _texts(node):
                if any(word in value for word in words):
                    return True
        return False

    def on_accelerator(self) -> bool:
        """Whether the script means to run on an accelerator."""
        return self.mentions("cuda", "gpu", "xpu", "npu")


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of one keyword argument."""
    return next((one.value for one in call.keywords if one.arg == name), None)


def is_true(node: ast.expr | None) -> bool:
    """Whether an expression is the constant ``True``."""
    return isinstance(node, ast.Constant) and node.value is True


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
        yield node.value
