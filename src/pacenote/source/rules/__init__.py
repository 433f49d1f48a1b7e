"""The rules, one file each: what it looks for in a script, and where.

A rule is found by folder scan (``PART``); third parties add theirs through the entry-point group ``pacenote.source``.
What a rule finds becomes a finding with the code ``source_<name>``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from pacenote.registry import Registry
from pacenote.source.text import Source, Spot


@dataclass(frozen=True)
class Rule:
    """One rule: its name, and the function that looks."""

    name: str
    check: Callable[[Source], Iterator[Spot]]


RULES: Final[Registry[Rule]] = Registry("source rule", "pacenote.source.rules", "pacenote.source")
