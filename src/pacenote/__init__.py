"""Pacenote: measures neural-network training and says what the numbers can carry.

Importing this package loads no framework; the names below load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pacenote._version import __version__

if TYPE_CHECKING:
    from pacenote.errors import PacenoteError
    from pacenote.records import Finding, Study, TrialRecord, TrialSpec
    from pacenote.regions import track

__all__ = ["Finding", "PacenoteError", "Study", "TrialRecord", "TrialSpec", "__version__", "track"]

_HOMES = {
    "Finding": "pacenote.records",
    "PacenoteError": "pacenote.errors",
    "Study": "pacenote.records",
    "TrialRecord": "pacenote.records",
    "TrialSpec": "pacenote.records",
    "track": "pacenote.regions",
}


def load_ipython_extension(shell: Any) -> None:
    """Give a notebook the magic ``%%pacenote``; called by ``%load_ext pacenote``."""
    from pacenote.cli.notebook import load

    load(shell)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pacenote' has no attribute {name!r}")
