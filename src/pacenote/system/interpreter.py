"""The environment that a measured process starts with."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Final

_FOREIGN: Final = ("PYTHONHOME", "PYTHONPATH", "PYTHONUSERBASE", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""Variables that would make another interpreter load this one's packages."""


def child_environ(python: str | None, levers_environ: Mapping[str, str]) -> dict[str, str]:
    """The environment a child starts with: this one's, plus what the levers set.

    Args:
        python: The child's interpreter if it is another one: then variables that point into our own
            installation are left out.
        levers_environ: Variables that levers set; they win.
    """
    inherited = dict(os.environ)
    if python is not None and os.path.realpath(python) != os.path.realpath(sys.executable):
        for name in _FOREIGN:
            inherited.pop(name, None)
    return {**inherited, **levers_environ}
