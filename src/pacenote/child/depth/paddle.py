"""PaddlePaddle's profiler, read for a few steps."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Optional

from . import Calls

_CPU, _GPU = 1, 2
"""What is traced: bits of ``ProfilerOptions.trace_switch`` (paddle/profiler/profiler.py)."""

_KINDS = {"Operator": "op", "CudaRuntime": "runtime", "Kernel": "kernel", "Memcpy": "copy", "Memset": "kernel"}
"""Paddle's tracer types that are kept, and ours. ``OperatorInner`` repeats the operator that contains it."""


class PaddleProfiler:
    """Runs the tracer behind ``paddle.profiler`` and reduces what it saw.

    ``paddle.profiler.Profiler`` itself is not used: making one wraps the ``step`` of every optimizer class for good.

    Args:
        paddle: The framework.
    """

    def __init__(self, paddle: Any) -> None:
        self.paddle = paddle
        self._running: Optional[Any] = None
        self._began_ns = 0

    def is_free(self) -> bool:
        """Whether nobody else profiles."""
        return not getattr(sys.modules.get("paddle.profiler.utils"), "_is_profiler_used", False)

    def start(self) -> None:
        """Begin to record."""
        core = self.paddle.base.core
        options = core.ProfilerOptions()
        options.trace_switch = _CPU | (_GPU if self.paddle.is_compiled_with_cuda() else 0)
        running = core._Profiler.create(options, [])
        core.enable_op_info_recorder()
        running.prepare()
        running.start()
        self._began_ns = time.perf_counter_ns()
        self._running = running

    def stop(self) -> Calls:
        """End, and give back what was recorded."""
        result = self._stopped()
        return Calls() if result is None else reduced(result.get_data(), self._began_ns)

    def give_up(self) -> None:
        """End, and forget what was recorded."""
        self._stopped()

    def _stopped(self) -> Any:
        running, self._running = self._running, None
        if running is None:
            return None
        self.paddle.base.core.disable_op_info_recorder()
        return running.stop()


def on_start(paddle: Any, patches: Any, call: Callable[[], None]) -> None:
    """Have ``call`` made before the script starts a profiler of its own."""
    create = paddle.base.core._Profiler.create
    ours = Tracer(create, call)
    patches.set(paddle.base.core, "_Profiler", ours)
    profiler = sys.modules.get("paddle.profiler.profiler")
    if profiler is not None:  # it has its own name for the class
        patches.set(profiler, "_Profiler", ours)


class Tracer:
    """Stands for the tracer's class where ``paddle.profiler`` makes one.

    Args:
        create: Makes a tracer.
        call: Called before.
    """

    def __init__(self, create: Callable[..., Any], call: Callable[[], None]) -> None:
        self._create = create
        self._call = call

    def create(self, *args: Any, **kwargs: Any) -> Any:
        """Make one, when ours has given way."""
        self._call()
        return self._create(*args, **kwargs)


def reduced(trees: dict[Any, Any], began_ns: int) -> Calls:
    """Reduce the profiler's trees.

    Args:
        trees: Per thread the root of its calls.
        began_ns: When it was started, by ``time.perf_counter_ns``; its own clock is set to that.
    """
    calls = Calls()
    nodes = sorted(
        ((node, str(thread)) for thread, root in trees.items() for node in _below(root)),
        key=lambda pair: pair[0].start_ns,
    )
    if not nodes:
        return calls
    shift_ns = _shift_ns(nodes[0][0].start_ns, began_ns)
    for node, thread in nodes:
        kind = _KINDS.get(_type(node))
        if kind is None:
            continue
        shapes = [shape for several in dict(node.input_shapes or {}).values() for shape in several]
        dtypes = [str(one) for several in dict(getattr(node, "dtypes", None) or {}).values() for one in several]
        what = calls.object(kind, node.name, shapes, dtypes)
        index = calls.add(what, calls.track("thread", thread), node.start_ns - shift_ns, node.end_ns - node.start_ns)
        for runtime in node.runtime_node:
            for device in runtime.device_node:
                where = calls.track("device", f"gpu:{device.device_id} stream {device.stream_id}")
                size = int(getattr(device, "num_bytes", 0) or 0)
                on_device = _KINDS.get(_type(device), "kernel")
                facts: dict[str, Any] = {"bytes": size} if on_device == "copy" else {}
                made = calls.object(on_device, device.name, **facts)
                calls.add(made, where, device.start_ns - shift_ns, device.end_ns - device.start_ns, index)
    return calls


def _below(root: Any) -> Iterator[Any]:
    waiting = list(root.children_node)
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.children_node)


def _type(node: Any) -> str:
    return str(node.type).rpartition(".")[2]


def _shift_ns(first_ns: int, began_ns: int) -> int:
    """What to take off the tracer's times: it keeps one of the system's clocks, which differ by more than a day."""
    offsets = (0, time.time_ns() - time.perf_counter_ns(), time.monotonic_ns() - time.perf_counter_ns())
    return min(offsets, key=lambda offset: abs(first_ns - offset - began_ns))
