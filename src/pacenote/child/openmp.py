"""How many threads the OpenMP runtime of this process would use: asked of the runtime itself."""

from __future__ import annotations

import ctypes
import re
from typing import Optional

_RUNTIME = re.compile(r"(/\S*lib(?:g|i)?omp[-\w]*\.so\S*)")


def max_threads() -> Optional[int]:
    """``omp_get_max_threads()`` of the loaded runtime; None where none is found.

    The runtime is found in /proc/self/maps, so this answers on Linux only. Where two are loaded, Intel's is asked:
    Paddle's wheel computes with it, and only carries GNU's along (seen with 3.3.1: setting threads moves only
    libiomp5).
    """
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            paths = {match.group(1) for line in maps for match in [_RUNTIME.search(line)] if match}
    except OSError:
        return None
    for path in sorted(paths, key=lambda found: "iomp" not in found):
        try:
            return int(ctypes.CDLL(path).omp_get_max_threads())
        except (OSError, AttributeError):
            continue  # a library of another kind that merely has "omp" in its name
    return None
