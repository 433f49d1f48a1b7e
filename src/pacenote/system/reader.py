"""Reads small kernel files below a root, and answers ``None`` where there is nothing to read."""

from __future__ import annotations

import os
from pathlib import Path


class Reader:
    """Access to ``/proc`` and ``/sys`` of this machine, or of a recorded one.

    Args:
        root: Folder that holds ``proc`` and ``sys``; ``"/"`` is the live machine.
    """

    def __init__(self, root: str | Path = "/") -> None:
        self.root = str(root).rstrip("/")

    @property
    def live(self) -> bool:
        """Whether this reads the running machine; only then may system calls stand in for files."""
        return self.root == ""

    def text(self, path: str) -> str | None:
        """Return the content of a file without surrounding blanks, or ``None`` if it cannot be read."""
        try:
            with open(self.root + path, encoding="utf-8", errors="replace") as stream:
                return stream.read().strip()
        except OSError:  # absent, not permitted, or the process behind it has just ended
            return None

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file; none if it cannot be read."""
        text = self.text(path)
        return text.splitlines() if text else []

    def integer(self, path: str) -> int | None:
        """Return the first word of a file as a whole number, or ``None``."""
        words = (self.text(path) or "").split(maxsplit=1)
        try:
            return int(words[0]) if words else None
        except ValueError:
            return None

    def fields(self, path: str, separator: str | None = None) -> dict[str, str]:
        """Return a file of ``key value`` lines as a dictionary; the first of equal keys counts."""
        found: dict[str, str] = {}
        for line in self.lines(path):
            key, value = [*line.split(separator, 1), ""][:2]
            found.setdefault(key.strip(), value.strip())
        return found

    def names(self, path: str) -> list[str]:
        """Return the names in a folder, sorted; none if there is no such folder."""
        try:
            return sorted(os.listdir(self.root + path))
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Whether the file is there, readable or not."""
        return os.path.exists(self.root + path)


def number(word: str | None) -> int | None:
    """Read the first word of ``word`` as a whole number (``"1024 kB"`` is 1024), or ``None``."""
    words = (word or "").split(maxsplit=1)
    try:
        return int(words[0]) if words else None
    except ValueError:
        return None


def decimal(word: str | None) -> float | None:
    """Read a decimal number, or ``None``."""
    try:
        return None if word is None else float(word)
    except ValueError:
        return None


def cpu_list(text: str | None) -> list[int]:
    """Read the kernel's list of CPUs: ``"0-2,5"`` is ``[0, 1, 2, 5]``."""
    found: list[int] = []
    for part in (text or "").split(","):
        low, _, high = part.strip().partition("-")
        first, last = number(low), number(high or low)
        if first is not None and last is not None:
            found.extend(range(first, last + 1))
    return found
