"""PyTorch's profiler, read for a few steps.

Source of the linking rule: an operator's ``correlation_id`` is the ``linked_correlation_id`` of the kernels and copies
that it launched (torch/autograd/profiler.py, ``_parse_kineto_results``).
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from typing import Any, Optional

from . import Calls

MEMORY = "[memory]"
_COPY = re.compile(r"Memcpy (\w+) \((\w+) -> (\w+)\)")
_RUNTIME = re.compile(r"^(cuda|cu|hip|xpu|ze)[A-Z]\w+$")


class PyTorchProfiler:
    """Runs ``torch.profiler`` and reduces what it saw.

    Args:
        torch: The framework.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self._running: Optional[Any] = None
        self._unix_minus_clock_ns = 0

    def is_free(self) -> bool:
        """Whether nobody else profiles."""
        return not self.torch.autograd._profiler_enabled()

    def start(self) -> None:
        """Begin to record."""
        profiler = self.torch.profiler
        kinds = {profiler.ProfilerActivity.CPU}
        if self.torch.cuda.is_available():
            kinds.add(profiler.ProfilerActivity.CUDA)
        elif hasattr(self.torch, "xpu") and self.torch.xpu.is_available():
            kinds.add(profiler.ProfilerActivity.XPU)
        self._unix_minus_clock_ns = time.time_ns() - time.perf_counter_ns()
        running = profiler.profile(activities=sorted(kinds, key=str), record_shapes=True, profile_memory=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            running.start()
        self._running = running

    def stop(self) -> Calls:
        """End, and give back what was recorded."""
        return reduced(self._stopped(), self._unix_minus_clock_ns)

    def give_up(self) -> None:
        """End, and forget what was recorded."""
        self._stopped()

    def _stopped(self) -> list[Any]:
        running, self._running = self._running, None
        if running is None:
            return []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            running.stop()
        results = running.profiler.kineto_results
        return list(results.events()) if results is not None else []


def on_start(torch: Any, patches: Any, call: Callable[[], None]) -> None:
    """Have ``call`` made before the script starts a profiler of its own."""
    owner = torch.autograd.profiler.profile
    for name in ("_prepare_trace", "__enter__"):
        original = getattr(owner, name, None)
        if original is not None:
            patches.set(owner, name, _after(call, original))


def _after(call: Callable[[], None], original: Callable[..., Any]) -> Callable[..., Any]:
    def start(profiler: Any, *args: Any, **kwargs: Any) -> Any:
        call()
        return original(profiler, *args, **kwargs)

    return start


def reduced(found: list[Any], unix_minus_clock_ns: int) -> Calls:
    """Reduce the profiler's events.

    Args:
        found: ``kineto_results.events()``.
        unix_minus_clock_ns: What to take off their times to have those of ``time.perf_counter_ns``.
    """
    calls = Calls()
    index_of: dict[int, int] = {}
    later = []
    found.sort(key=lambda event: event.start_ns())
    for event in found:
        name = event.name()
        if name == MEMORY:
            calls.allocated(_device(event), event.nbytes())
        elif _on_host(event):
            kind = "runtime" if _RUNTIME.match(name) else "op"
            what = calls.object(kind, name, event.shapes(), event.dtypes() if hasattr(event, "dtypes") else ())
            where = calls.track("thread", str(event.start_thread_id()))
            index = calls.add(what, where, event.start_ns() - unix_minus_clock_ns, event.duration_ns())
            if kind == "op" and index >= 0:
                index_of[event.correlation_id()] = index
        else:
            later.append(event)
    for event in later:
        where = calls.track("device", f"{_device(event)} stream {event.device_resource_id()}")
        cause = index_of.get(event.linked_correlation_id(), -1)
        calls.add(_on_device(calls, event), where, event.start_ns() - unix_minus_clock_ns, event.duration_ns(), cause)
    return calls


def _on_device(calls: Calls, event: Any) -> int:
    name, size = event.name(), event.nbytes()
    copy = _COPY.match(name)
    if copy is None:
        return calls.object("kernel", name)
    return calls.object("copy", copy[1], source=copy[2].lower(), target=copy[3].lower(), bytes=max(0, size))


def _on_host(event: Any) -> bool:
    return str(event.device_type()).rpartition(".")[2] == "CPU"


def _device(event: Any) -> str:
    kind = str(event.device_type()).rpartition(".")[2].lower()
    return kind if kind == "cpu" else f"{kind}:{event.device_index()}"
