"""One registry for every kind of part: built-ins by folder scan, third parties by entry points.

A family (workloads, levers, health checks, report sections …) is a package whose modules each hold one
part, under the module-level name ``PART``. A third party declares an entry point in the family's group
that loads to the same kind of object. A duplicate name is refused, an unknown name lists the known ones,
and a plug-in that fails to load becomes a named warning instead of a crash.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Generic, Protocol, TypeVar

from pacenote.errors import PacenoteError, UnknownNameError


class Named(Protocol):
    """What every part has: a name that is unique in its family."""

    @property
    def name(self) -> str:
        """The name users type."""
        ...


P = TypeVar("P", bound=Named)


class DuplicatePartError(PacenoteError):
    """Two parts of one family carry the same name."""


class Registry(Generic[P]):
    """The parts of one family, loaded on first use.

    Args:
        what: The family's word in messages, for example ``"lever"``.
        package: Dotted name of the package whose modules hold the built-in parts.
        group: Entry-point group for third parties, for example ``"pacenote.levers"``.
    """

    def __init__(self, what: str, package: str, group: str) -> None:
        self.what = what
        self.package = package
        self.group = group
        self.warnings: list[str] = []
        self._parts: dict[str, P] | None = None

    def add(self, part: P) -> None:
        """Register one part.

        Raises:
            DuplicatePartError: If the name is taken.
        """
        self._add(self._load(), part)

    def get(self, name: str) -> P:
        """Return the part called ``name``.

        Raises:
            UnknownNameError: If there is none; the message lists the known names.
        """
        parts = self._load()
        if name not in parts:
            raise UnknownNameError(self.what, name, parts)
        return parts[name]

    def names(self) -> tuple[str, ...]:
        """Every known name, sorted."""
        return tuple(sorted(self._load()))

    def __iter__(self) -> Iterator[P]:
        parts = self._load()
        return iter(parts[name] for name in sorted(parts))

    def __contains__(self, name: object) -> bool:
        return name in self._load()

    def _add(self, parts: dict[str, P], part: P) -> None:
        if part.name in parts:
            raise DuplicatePartError(f"two {self.what}s are called {part.name!r}; rename one of them.")
        parts[part.name] = part

    def _load(self) -> dict[str, P]:
        if self._parts is not None:
            return self._parts
        parts: dict[str, P] = {}
        package = importlib.import_module(self.package)
        for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda found: found.name):
            loaded = importlib.import_module(f"{self.package}.{module.name}")
            part = getattr(loaded, "PART", None)
            if part is not None:
                self._add(parts, part)
        self._parts = parts
        for entry in sorted(entry_points(group=self.group), key=lambda found: found.name):
            self._load_plugin(entry.name, entry.load)
        return parts

    def _load_plugin(self, name: str, load: object) -> None:
        """Load one third-party part; its failure is a warning that names it, never a crash."""
        assert self._parts is not None and callable(load)
        try:
            part = load()
            if not isinstance(part.name, str):
                raise TypeError(f"its name is {part.name!r}, which is no text")
            self._add(self._parts, part)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a plug-in raises must not stop the tool
            self.warnings.append(f"{self.what} plug-in {name!r} was left out: {type(error).__name__}: {error}")
