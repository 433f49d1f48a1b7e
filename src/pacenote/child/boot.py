"""Start of the measured process: load this folder as the package ``pacenote_child`` and run it.

The parent starts ``python …/child/boot.py``. Loading by path keeps the interpreter's own ``sys.path`` as the user has
it, so any interpreter can be measured, with or without Pacenote. The package is registered at import, not only under
``__main__``: a spawned loader worker imports this file again as ``__mp_main__`` and must find the same classes.
"""

from __future__ import annotations

import importlib.util
import os
import sys

PACKAGE = "pacenote_child"


def register() -> None:
    """Put the package that lies beside this file into ``sys.modules``."""
    if PACKAGE in sys.modules:
        return
    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


def die_with_parent() -> None:
    """Ask the kernel to end this process when its parent ends, so that ``kill -9`` of the parent leaves no orphan.

    Linux only; elsewhere the end of the control pipe ends the process at its next gate. The signal comes when the
    *thread* that started this process ends, so the parent starts children from its main thread.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes
    import signal

    pr_set_pdeathsig = 1  # linux/prctl.h
    ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    if os.getppid() == 1 and os.environ.get("PACENOTE_PARENT_PID", "1") != "1":
        os._exit(1)  # the parent ended before the request was made


register()

if __name__ == "__main__":
    die_with_parent()
    # The folder of this script is not a place to import from: "levers" or "events" there would shadow the user's.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    from pacenote_child.main import main  # type: ignore[import-not-found]

    sys.exit(main())
