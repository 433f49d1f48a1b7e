"""What levers change inside the child, and what is then seen of them.

Width, depth, batch, workers, layout and pipeline are built in by the workload; here are the switches of the
whole process, and the look afterwards: a lever counts as applied only if it is seen.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
from typing import Any

LOOPS = ("pytorch", "paddle")
"""Frameworks whose loop module can look at a training."""


def apply(adapter: Any, levers: dict[str, Any]) -> None:
    """Set the switches of the process; call it after the framework is imported and before the build."""
    if levers.get("threads"):
        adapter.set_threads(int(levers["threads"]))
    if adapter.name in LOOPS:
        _loop(adapter.name).set_precision(levers.get("dtype") or "fp32")


def observe(adapter: Any, training: Any, levers: dict[str, Any]) -> dict[str, Any]:
    """Say what each lever is seen to be. A lever that cannot be seen has no key.

    Takes one more batch through the live training, so call it after the last measured turn and with the gate
    open: neither the probe nor the recorder may end this step.
    """
    seen: dict[str, Any] = {"threads": adapter.get_threads(), **environment()}
    if adapter.name not in LOOPS:
        return seen
    by_batch = getattr(getattr(training.loader, "dataset", None), "by_batch", None)  # a third party's has none
    if by_batch is not None:
        seen["pipeline"] = "batched" if by_batch else "tutorial"
    if training.model is None:
        if training.loader is not None:
            seen.update(_look_at_loader(training.loader))
        return seen
    seen.update(_loop(adapter.name).look(training))
    seen["parameters"] = training.parameters
    seen["expected_parameters"] = training.expected_parameters
    if training.parameters == training.expected_parameters:
        seen["width"] = levers.get("width") or 1.0
        seen["depth"] = levers.get("depth") or 1
    return seen


def _loop(framework: str) -> Any:
    return importlib.import_module(f"{__package__}.loops.{framework}")


def _look_at_loader(loader: Any) -> dict[str, Any]:
    others = set(multiprocessing.active_children())
    iterator = iter(loader)
    batch = next(iterator)
    seen = {"loader_workers": len(set(multiprocessing.active_children()) - others)}
    inputs = batch[0] if isinstance(batch, (list, tuple)) and batch else batch
    if getattr(inputs, "shape", None):
        seen["batch_size"] = int(inputs.shape[0])
    return seen


def environment() -> dict[str, Any]:
    """Levers that act through the environment: seen there, and only where something reads it."""
    policy = os.environ.get("OMP_WAIT_POLICY", "").lower()
    seen: dict[str, Any] = {"waiting_policy": policy if policy in ("passive", "active") else "default"}
    if sys.platform.startswith("linux") and _is_glibc():
        kept = os.environ.get("MALLOC_TRIM_THRESHOLD_") and os.environ.get("MALLOC_MMAP_THRESHOLD_")
        seen["allocator"] = "no_trim" if kept and not os.environ.get("LD_PRELOAD") else "default"
    return seen


def _is_glibc() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (AttributeError, OSError, ValueError):
        return False
