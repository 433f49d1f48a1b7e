"""What can be seen in the text of a training script, without running it.

Each rule looks for one mistake that costs time or correctness and that people copy from one another; it says where it
is and with which facts. A rule speaks only of what the text shows: it would rather miss a case than accuse wrongly.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, Final

from pacenote.source.rules import RULES
from pacenote.source.text import Source

__all__ = ["LARGEST_BYTES", "RULES", "look", "names_of"]

LARGEST_BYTES: Final = 1_000_000
"""Of a script that is read; larger ones are generated."""

_FRAMEWORKS: Final = ("torch", "paddle")


def look(path: Path) -> list[dict[str, Any]]:
    """Everything that the rules find in one file; nothing when it is no Python that can be read.

    Returns:
        ``{"rule": its name, "line": number, "params": facts}`` per place, in order of lines.
    """
    source = _read(path)
    if source is None:
        return []
    found = [
        {"rule": rule.name, "line": spot.line, "params": dict(spot.params)}
        for rule in RULES
        for spot in rule.check(source)
    ]
    return sorted(found, key=lambda one: (one["line"], one["rule"]))


def names_of(path: Path) -> dict[str, int]:
    """Dotted names of PyTorch or Paddle that a file uses, each with its first line: ``torch.nn.Linear`` → 12."""
    source = _read(path)
    if source is None:
        return {}
    found: dict[str, int] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute):
            name = source.name(node)
            if name.partition(".")[0] in _FRAMEWORKS:
                found[name] = min(node.lineno, found.get(name, node.lineno))
    longest = {name for name in found if not any(other.startswith(name + ".") for other in found)}
    return {name: found[name] for name in sorted(longest)}


def _read(path: Path) -> Source | None:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            return None
        text = path.read_text(encoding="utf-8")
        return Source(text, ast.parse(text))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return None
