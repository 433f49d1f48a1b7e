"""How many threads the OpenMP runtime of this process would use: asked of the runtime itself."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Optional

_RUNTIME = re.compile(r"lib[gi]?omp[-\w]*\.so[.\w]*")


def max_threads() -> Optional[int]:
    """``omp_get_max_threads()`` of the loaded runtime; None where none is found.

    The runtime is found in /proc/self/maps, so this answers on Linux only. Where two are loaded, Intel's is asked:
    Paddle's wheel computes with it, and only carries GNU's along (seen with 3.3.1: setting threads moves only
    libiomp5).
    """
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            paths = {path for path in map(_path, maps) if _RUNTIME.fullmatch(os.path.basename(path))}
    except OSError:
        return None
    for path in sorted(paths, key=lambda found: "iomp" not in found):
        try:
            return int(ctypes.CDLL(path).omp_get_max_threads())
        except (OSError, AttributeError):
            continue  # a library of another kind that merely has "omp" in its name
    return None


def _path(line: str) -> str:
    """The file of one line of maps: its sixth column, which may hold blanks."""
    columns = line.rstrip("\n").split(maxsplit=5)
    return columns[5] if len(columns) == 6 else ""
