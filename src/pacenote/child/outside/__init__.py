"""Levers applied to a running script from outside, one file each.

A lever's module has ``apply(outside, value)``, called when the framework has been imported, and ``seen(outside)``,
called at the end: the value that was in force, or ``None`` where nothing shows it. What does not apply is said with a
reason, by raising :class:`NotApplicable` or by :meth:`Outside.refuse` when it shows only later.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, Optional

from ..loader_arguments import Loaders
from ..recorder import PatchSet


class NotApplicable(Exception):  # noqa: N818 - an answer, not a mistake
    """The lever does not apply here.

    Attributes:
        reason: Why, as a reason code.
    """

    reason: str

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Outside:
    """What a lever may know and change of the script's process.

    Args:
        adapter: The framework.
        patches: Where replaced attributes are noted, so that all of them can be put back.
    """

    def __init__(self, adapter: Any, patches: PatchSet) -> None:
        self.adapter = adapter
        self.framework: str = adapter.name
        self.module = adapter.module
        self.patches = patches
        self.roots: list[Any] = []
        self.devices: list[str] = []
        self.on_root: list[Callable[[Any, str], None]] = []  # told of each root module before its first call
        self.counts: dict[str, int] = {}
        self.forwards: dict[type, dict[int, list[Any]]] = {}  # see forwards.py
        self.loaders = Loaders(self)
        self.reasons: dict[str, str] = {}
        self.failure = ""  # what the compiler said, where it failed
        self._asked: dict[str, Any] = {}
        self._parts: dict[str, Any] = {}
        self._undo: list[Callable[[], None]] = []

    def apply(self, levers: dict[str, Any]) -> None:
        """Apply every lever that has a file here; the others act through the environment."""
        for name, value in levers.items():
            if name not in names():
                continue
            part = self._parts[name] = importlib.import_module(f"{__name__}.{name}")
            self._asked[name] = value
            try:
                part.apply(self, value)
            except NotApplicable as answer:
                self.refuse(name, answer.reason)

    def refuse(self, name: str, reason: str) -> None:
        """Say why a lever does not apply; the first reason stays."""
        self.reasons.setdefault(name, reason)

    def count(self, name: str) -> None:
        """Note that a lever acted once."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def noticed(self, module: Any, device: str) -> None:
        """A root module is about to be called for the first time."""
        self.roots.append(module)
        self.devices.append(device)
        for call in self.on_root:
            call(module, device)

    def undoing(self, action: Callable[[], None]) -> None:
        """Note how something is put back that is no replaced attribute of a class."""
        self._undo.append(action)

    def undo(self) -> None:
        """Put back what was noted, the latest first; the process goes on without the levers.

        Objects that were made under a lever (a loader with its workers, an optimizer's state) stay as they were made.

        Raises:
            Exception: The first of an action that failed, once all of them were called.
        """
        failed: Optional[Exception] = None
        while self._undo:
            try:
                self._undo.pop()()
            except Exception as error:  # noqa: BLE001 - raised below, when the others are done
                failed = failed or error
        if failed is not None:
            raise failed

    def observed(self) -> dict[str, Any]:
        """What each lever was seen to be."""
        seen: dict[str, Any] = {}
        for name, part in self._parts.items():
            value = part.seen(self)
            if value is not None:
                seen[name] = value
        return seen

    @property
    def on_accelerator(self) -> Optional[bool]:
        """Whether the first model seen lies on an accelerator; ``None`` before one was seen."""
        return None if not self.devices else self.devices[0].partition(":")[0] != "cpu"


def names() -> set[str]:
    """Levers that have a file here."""
    return {found.name for found in pkgutil.iter_modules(__path__)}
