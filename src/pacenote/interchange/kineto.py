"""A trace that PyTorch's profiler wrote, read as a record like any other: the same steps, phases and operators.

Format: the Chrome trace that ``torch.profiler`` exports (``export_chrome_trace``, ``tensorboard_trace_handler``), plain
or gzipped. What tells the phases apart, as PyTorch names it: ``enumerate(DataLoader)#…`` is the wait for data,
``Optimizer.step#…`` and ``Optimizer.zero_grad#…`` the optimizer, ``autograd::engine::evaluate_function: …`` the
backward pass; operators that carry a sequence number were recorded for a backward pass, so they are the forward pass.

The trace is data from elsewhere: it is decoded into typed values, and nothing in it is executed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from pacenote.child import events
from pacenote.child.depth import Calls
from pacenote.depth import from_message
from pacenote.errors import UsageError
from pacenote.interchange.trace_file import Event, decoded
from pacenote.records import Depth, EventLog
from pacenote.segment import segment

DEPTH_STEPS: Final = 3
"""Steps of which every call is kept; of the others only the phases."""

_DATA: Final = "enumerate(DataLoader)#"
_STEP: Final = "Optimizer.step#"
_ZERO: Final = "Optimizer.zero_grad#"
_BACKWARD: Final = "autograd::engine::evaluate_function"
_PROFILER_STEP: Final = "ProfilerStep#"
_COPY: Final = re.compile(r"Memcpy (\w+)(?: \((\w+) -> (\w+)\))?")
_HOST: Final = frozenset({"cpu_op", "user_annotation", "operator", "cpu_instant_event"})
_RUNTIME: Final = frozenset({"cuda_runtime", "cuda_driver", "runtime", "xpu_runtime"})
_ON_DEVICE: Final = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})


@dataclass(frozen=True)
class Imported:
    """What a trace says.

    Attributes:
        log: Steps and phases, as the probe would have written them.
        depth: The calls of the last steps.
        steps: How many steps were found.
        device: ``"cpu"`` or what the kernels ran on.
        devices: Names of the devices, as the trace has them.
        rank: The process's rank.
        world_size: How many there were.
    """

    log: EventLog
    depth: Depth
    steps: int
    device: str
    devices: list[str]
    rank: int
    world_size: int


@dataclass
class _Span:
    """One span of the host or a device, in whole nanoseconds."""

    began_ns: int
    ended_ns: int
    event: Event
    kind: int = -1


@dataclass
class _Spans:
    """What is kept of a trace, sorted by time."""

    host: dict[Any, list[_Span]] = field(default_factory=dict)  # by thread
    runtime: list[_Span] = field(default_factory=list)
    device: list[_Span] = field(default_factory=list)


def read(path: Path) -> Imported:
    """Read a trace.

    Raises:
        UsageError: If the file is no such trace, is too large, or shows no training step.
    """
    file = decoded(path)
    spans = _sorted(file.traceEvents)
    if not spans.host:
        raise UsageError(f"{path}: no operator of PyTorch is in this trace; export it with torch.profiler.")
    main = _main_thread(spans)
    phases = _phases(spans, main)
    log = _log(phases, spans)
    found = segment(log)
    if not len(found):
        raise UsageError(
            f"{path}: no training step is in this trace; profile at least two whole steps, the optimizer's included."
        )
    device = "cuda:0" if spans.device else "cpu"
    world = file.distributedInfo or {}
    return Imported(
        log=log,
        depth=_depth(spans, _last_steps(log)),
        steps=len(found),
        device=device,
        devices=[str(one.get("name", "")) for one in file.deviceProperties if one.get("name")],
        rank=_number(world.get("rank"), 0),
        world_size=max(1, _number(world.get("world_size"), 1)),
    )


def _sorted(found: Sequence[Event]) -> _Spans:
    spans = _Spans()
    for event in found:
        began, lasted = _microseconds(event.ts), _microseconds(event.dur)
        if event.ph != "X" or began is None or lasted is None or lasted < 0:
            continue
        span = _Span(round(began * 1e3), round((began + lasted) * 1e3), event)
        category = event.cat.lower()
        if category in _HOST:
            spans.host.setdefault((str(event.pid), str(event.tid)), []).append(span)
        elif category in _RUNTIME:
            spans.runtime.append(span)
        elif category in _ON_DEVICE:
            spans.device.append(span)
    for several in (*spans.host.values(), spans.runtime, spans.device):
        several.sort(key=lambda span: (span.began_ns, -span.ended_ns))
    return spans


def _microseconds(value: Any) -> float | None:
    """A time of the trace; newer ones write nanoseconds as decimals, some as text."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if np.isfinite(number) and abs(number) < 1e16 else None


def _number(value: Any, otherwise: int) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return otherwise


def _main_thread(spans: _Spans) -> Any:
    """The thread that steps the optimizer; else that reads the loader; else that runs most operators."""
    for prefix in (_STEP, _DATA, _PROFILER_STEP):
        tally = Tally(
            {thread: sum(span.event.name.startswith(prefix) for span in own) for thread, own in spans.host.items()}
        )
        thread, count = tally.most_common(1)[0]
        if count:
            return thread
    return max(spans.host, key=lambda thread: len(spans.host[thread]))


def _phases(spans: _Spans, main: Any) -> list[_Span]:
    """Spans of phases on the host, in order."""
    outermost = [span for span in _outermost(spans.host[main]) if not span.event.name.startswith(_PROFILER_STEP)]
    for thread, own in spans.host.items():
        if thread != main:  # with an accelerator the backward pass runs on threads of its own
            outermost += [span for span in _outermost(own) if span.event.name.startswith(_BACKWARD)]
    outermost.sort(key=lambda span: (span.began_ns, -span.ended_ns))
    copying = _copying(spans)
    for span in outermost:
        span.kind = _kind(span, copying)
    found = [span for span in outermost if span.kind in (events.DATA_BEGIN, events.OPTIMIZER_BEGIN, events.ZERO_BEGIN)]
    for kind in (events.FORWARD_BEGIN, events.BACKWARD_BEGIN):
        found += _runs(outermost, kind)
    found += [span for span in outermost if span.kind == events.COPY_BEGIN]
    return sorted(found, key=lambda span: (span.began_ns, -span.ended_ns))


def _outermost(own: Sequence[_Span]) -> list[_Span]:
    """Spans of one thread that lie in no other; the profiler's own steps hold everything and do not count."""
    found: list[_Span] = []
    until = -1 << 62
    for span in own:
        if span.event.name.startswith(_PROFILER_STEP):
            continue
        if span.began_ns >= until:
            found.append(span)
            until = span.ended_ns
    return found


def _kind(span: _Span, copying: set[Any]) -> int:
    name = span.event.name
    for prefix, kind in (
        (_DATA, events.DATA_BEGIN),
        (_STEP, events.OPTIMIZER_BEGIN),
        (_ZERO, events.ZERO_BEGIN),
        (_BACKWARD, events.BACKWARD_BEGIN),
    ):
        if name.startswith(prefix):
            return kind
    if name in ("aten::to", "aten::_to_copy", "aten::copy_") and span.began_ns in copying:
        return events.COPY_BEGIN
    recorded = _number(span.event.fact("Sequence number"), -1) >= 0 and span.event.cat != "user_annotation"
    return events.FORWARD_BEGIN if recorded else -1


def _runs(outermost: Sequence[_Span], kind: int) -> list[_Span]:
    """Spans of one kind with nothing but unknown operators and copies between them, put together."""
    found: list[_Span] = []
    is_open = False
    for span in outermost:
        if span.kind == kind:
            if is_open:
                found[-1].ended_ns = max(found[-1].ended_ns, span.ended_ns)
            else:
                found.append(_Span(span.began_ns, span.ended_ns, span.event, kind))
                is_open = True
        elif span.kind not in (-1, events.COPY_BEGIN):
            is_open = False
    return found


def _copying(spans: _Spans) -> set[Any]:
    """When each outermost operator began that launched a copy from host to device."""
    wanted = {
        span.event.fact("External id", "external id", "correlation")
        for span in spans.device
        if "HtoD" in span.event.name
    }
    wanted.discard(None)
    if not wanted:
        return set()
    began: set[Any] = set()
    for own in spans.host.values():
        outermost = _outermost(own)
        starts = [span.began_ns for span in outermost]
        for span in own:
            if span.event.fact("External id", "external id") in wanted:
                at = bisect_right(starts, span.began_ns) - 1
                if at >= 0:
                    began.add(starts[at])
    return began


def _log(phases: Sequence[_Span], spans: _Spans) -> EventLog:
    """Events as the probe writes them; the device's spans are those of the work that each phase launched."""
    objects: list[dict[str, Any]] = []
    index: dict[tuple[int, str], int] = {}
    times: list[int] = []
    codes: list[int] = []

    def add(kind: int, began_ns: int, ended_ns: int, number: int, stream: int = 0) -> None:
        times.extend((began_ns, ended_ns))
        codes.extend(events.code(kind + end, stream=stream, index=number) for end in (0, 1))

    numbers = []
    for span in phases:
        name = span.event.name.partition("#")[2] or _NAMES[span.kind]
        key = (span.kind, name)
        if key not in index:
            index[key] = len(objects)
            objects.append({"kind": _NAMES[span.kind], "name": name.removesuffix(".step").removesuffix(".zero_grad")})
        numbers.append(index[key])
        add(span.kind, span.began_ns, span.ended_ns, index[key])
    for at, began_ns, ended_ns in _on_device(phases, spans):
        add(phases[at].kind, began_ns, ended_ns, numbers[at], stream=1)
    if times:
        first, last = min(times), max(times)
        for kind, at in ((events.RESUME, first), (events.PAUSE, first), (events.RESUME, first), (events.PAUSE, last)):
            times.append(at)
            codes.append(events.code(kind))
    return EventLog(
        t_ns=np.array(times, dtype="<i8").tobytes(), code=np.array(codes, dtype="<i8").tobytes(), objects=objects
    )


_NAMES: Final = {
    events.DATA_BEGIN: "loader",
    events.COPY_BEGIN: "copy",
    events.FORWARD_BEGIN: "module",
    events.BACKWARD_BEGIN: "backward",
    events.OPTIMIZER_BEGIN: "optimizer",
    events.ZERO_BEGIN: "optimizer",
}


def _on_device(phases: Sequence[_Span], spans: _Spans) -> list[tuple[int, int, int]]:
    """Per phase that launched something: its index, and from when to when that ran; phases do not overlap there."""
    launched = {span.event.fact("correlation"): span.began_ns for span in spans.runtime}
    starts = [span.began_ns for span in phases]
    bounds: dict[int, list[int]] = {}
    for span in spans.device:
        host_ns = launched.get(span.event.fact("correlation"))
        at = -1 if host_ns is None else bisect_right(starts, host_ns) - 1
        if at < 0 or host_ns is None or host_ns > phases[at].ended_ns:
            continue
        bound = bounds.setdefault(at, [span.began_ns, span.ended_ns])
        bound[0], bound[1] = min(bound[0], span.began_ns), max(bound[1], span.ended_ns)
    found = []
    free_ns = -1 << 62
    for at in sorted(bounds):
        began_ns, ended_ns = max(bounds[at][0], free_ns), bounds[at][1]
        if ended_ns > began_ns:
            found.append((at, began_ns, ended_ns))
            free_ns = ended_ns
    return found


def _last_steps(log: EventLog) -> tuple[int, int, int]:
    """When the last few steps began and ended, and how many they are."""
    total_s = segment(log).total_s
    steps = min(DEPTH_STEPS, max(1, len(total_s) - 1))
    t_ns = np.frombuffer(log.t_ns, dtype="<i8")
    code = np.frombuffer(log.code, dtype="<i8")
    kind = code & events.KIND_MASK
    end_kind = next(one for one in (events.OPTIMIZER_END, events.BACKWARD_END, events.DATA_END) if (kind == one).any())
    last = int(t_ns[kind == end_kind].max())
    return last - int(total_s[-steps:].sum() * 1e9), last, steps


def _depth(spans: _Spans, bounds: tuple[int, int, int]) -> Depth:
    """Every call of the last steps, with what it launched."""
    first, last, steps = bounds
    calls = Calls()
    by_external: dict[Any, int] = {}
    by_correlation: dict[Any, int] = {}
    host = [(thread, span) for thread, own in spans.host.items() for span in own]
    host.sort(key=lambda pair: (pair[1].began_ns, -pair[1].ended_ns))
    for (_, thread), span in host:
        if not first <= span.began_ns <= last or span.event.name.startswith(_PROFILER_STEP):
            continue
        shapes, kinds = span.event.fact("Input Dims", "Input dims"), span.event.fact("Input type")
        dtypes = [str(one) for one in kinds] if isinstance(kinds, list) else []
        what = calls.object("op", span.event.name[:200], shapes if isinstance(shapes, list) else (), dtypes)
        index = calls.add(what, calls.track("thread", thread), span.began_ns, span.ended_ns - span.began_ns)
        external = span.event.fact("External id", "external id")
        if external is not None:
            by_external[external] = index
    for span in spans.runtime:
        if first <= span.began_ns <= last:
            where = calls.track("thread", str(span.event.tid))
            what = calls.object("runtime", span.event.name[:200])
            calls.add(what, where, span.began_ns, span.ended_ns - span.began_ns)
            by_correlation[span.event.fact("correlation")] = by_external.get(span.event.fact("External id"), -1)
    for span in spans.device:
        correlation, external = span.event.fact("correlation"), span.event.fact("External id", "external id")
        cause = by_correlation.get(correlation, by_external.get(external, -1))
        if correlation in by_correlation or external in by_external:
            stream = span.event.fact("stream")
            device = _number(span.event.fact("device"), 0)
            where = calls.track("device", f"cuda:{device} stream {span.event.tid if stream is None else stream}")
            calls.add(_on_device_object(calls, span), where, span.began_ns, span.ended_ns - span.began_ns, cause)
    return from_message({"steps": steps, **calls.packed()})


def _on_device_object(calls: Calls, span: _Span) -> int:
    name = span.event.name[:300]
    copy = _COPY.match(name)
    if copy is None:
        return calls.object("kernel", name)
    size = max(0, _number(span.event.fact("bytes"), 0))
    source, target = (copy[2] or copy[1]).lower(), (copy[3] or "").lower()
    return calls.object("copy", copy[1], source=source, target=target, bytes=size)
