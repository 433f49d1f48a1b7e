"""Makes torch sick in every process that finds this folder on its path, as ``PACENOTE_SICK`` says.

``anomaly_quiet``, ``anomaly``, ``anomaly_profiler``: debug modes. ``trim:N``: give the heap's free pages back to the
system after every Nth optimizer step, which is what the C library's allocator does by itself when the pattern of a
network's allocations hits its threshold. With ``PACENOTE_SICK_THREADS`` only processes with that many threads.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from types import ModuleType
from typing import Any


def sicken(torch: Any, kind: str) -> None:
    """Switch on what ``kind`` names."""
    if kind.startswith("anomaly"):
        torch.autograd.set_detect_anomaly(True, check_nan=kind != "anomaly_quiet")
    if kind == "anomaly_profiler":
        profiler = torch.autograd.profiler.profile(use_kineto=False)
        profiler.__enter__()
    if kind.startswith("trim:"):
        trim_every(int(kind.partition(":")[2]))


def trim_every(period: int) -> None:
    """Call malloc_trim(0) after every ``period``-th step."""
    import ctypes

    from torch.optim.optimizer import register_optimizer_step_post_hook

    libc = ctypes.CDLL(None)
    steps = [0]

    def after_step(*_: Any) -> None:
        steps[0] += 1
        if steps[0] % period == 0:
            libc.malloc_trim(0)

    register_optimizer_step_post_hook(after_step)


class Finder(importlib.abc.MetaPathFinder):
    """Waits for ``import torch``."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """Let torch be found as usual, and sicken it once it is loaded."""
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            sicken(module, os.environ["PACENOTE_SICK"])

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if os.environ.get("PACENOTE_SICK") and os.environ.get("OMP_NUM_THREADS") == os.environ.get(
    "PACENOTE_SICK_THREADS", os.environ.get("OMP_NUM_THREADS")
):
    sys.meta_path.insert(0, Finder())
