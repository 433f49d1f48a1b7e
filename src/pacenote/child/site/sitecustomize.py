"""Loaded by every Python process below a script that is measured: attaches the probe, then steps aside.

This folder stands first in ``PYTHONPATH`` while a script runs under Pacenote, so the interpreter imports this file at
its start, as it would the user's own ``sitecustomize``, which is loaded right afterwards. Whatever goes wrong here is
written down and never reaches the script.
"""

from __future__ import annotations

import os
import sys


def _attach(folder: str) -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    try:
        import importlib.util

        boot = os.path.join(os.path.dirname(here), "boot.py")
        spec = importlib.util.spec_from_file_location("_pacenote_boot", boot)
        assert spec is not None and spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))  # registers the package; starts nothing
        from pacenote_child.attach import attach  # type: ignore[import-not-found]

        attach(folder)
    except Exception as error:  # noqa: BLE001 - the script must run whatever happens to us
        try:
            with open(os.path.join(folder, "%d.failed" % os.getpid()), "w", encoding="utf-8") as file:
                file.write("%s: %s" % (type(error).__name__, error))
        except OSError:
            pass  # the folder is gone as well: the parent reports that no process answered


def _chain() -> None:
    """Load the ``sitecustomize`` that would have been found without us."""
    import importlib.machinery
    import importlib.util

    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_folder = os.environ.get("PACENOTE_ATTACH")
if _folder:
    _attach(_folder)
_chain()
