"""Steps recorded in depth, read: which operators, kernels and copies took how long, and what launched them.

A pure function of :class:`pacenote.records.Depth`; nothing is stored but the calls themselves.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pacenote.child import events
from pacenote.records import Depth, EventLog

Ints = npt.NDArray[np.int64]

SERIES: Final = ("began_ns", "lasted_ns", "what", "where", "cause")


@dataclass(frozen=True)
class Calls:
    """The calls of a recording; all arrays have one entry per call, in order of their beginning on each track.

    Attributes:
        began_ns: When each call began.
        lasted_ns: How long it took.
        what: Index into the recording's objects.
        where: Index into its tracks.
        cause: Index of the call that launched it, or -1.
        parent: Index of the call on the same thread that it lies in, or -1.
        self_ns: What it took without the calls that lie in it.
    """

    began_ns: Ints
    lasted_ns: Ints
    what: Ints
    where: Ints
    cause: Ints
    parent: Ints
    self_ns: Ints

    def __len__(self) -> int:
        """How many calls there are."""
        return len(self.began_ns)


@dataclass(frozen=True)
class OperatorRow:
    """One operator with one set of shapes, per step.

    Attributes:
        name: As the framework calls it.
        shapes: Of its inputs.
        calls: Calls per step.
        host_s: Time of the host per step, without the operators it called.
        device_s: Time on devices of what it launched itself, per step.
    """

    name: str
    shapes: str
    calls: float
    host_s: float
    device_s: float


@dataclass(frozen=True)
class CopyRow:
    """Copies from one kind of memory to another, per step."""

    source: str
    target: str
    calls: float
    copied_bytes: float
    device_s: float


@dataclass(frozen=True)
class DeviceRow:
    """One stream of a device.

    Attributes:
        name: Device and stream.
        busy_share: Time in which something ran, of the time from the recording's first call to its last.
        kernels: Kernels per step.
        shortest_s: Median time of a kernel.
    """

    name: str
    busy_share: float
    kernels: float
    median_kernel_s: float


def from_message(told: Mapping[str, Any]) -> Depth:
    """What a process recorded, from its message (see :mod:`pacenote.child.depth`); its series stay compressed."""
    series: dict[str, Any] = {name: base64.b64decode(told[name]) for name in SERIES if name in told}
    names = ("steps", "failure", "objects", "tracks", "memory", "left_out")
    rest = {name: told[name] for name in names if name in told}
    return Depth(**rest, **series)


def calls_of(depth: Depth) -> Calls:
    """Unpack a recording and find out what lies in what.

    Raises:
        ValueError: If its series are damaged.
    """
    series = {name: _unpacked(getattr(depth, name)) for name in SERIES}
    if len({len(values) for values in series.values()}) != 1:
        raise ValueError("the series of a recording differ in length")
    parent = np.full(len(series["what"]), -1, dtype=np.int64)
    threads = [at for at, track in enumerate(depth.tracks) if track.get("kind") == "thread"]
    for track in threads:
        _nest(np.flatnonzero(series["where"] == track), series["began_ns"], series["lasted_ns"], parent)
    inside = np.zeros(len(parent), dtype=np.int64)
    np.add.at(inside, parent[parent >= 0], series["lasted_ns"][parent >= 0])
    return Calls(**series, parent=parent, self_ns=np.maximum(series["lasted_ns"] - inside, 0))


def operators(depth: Depth, calls: Calls | None = None) -> list[OperatorRow]:
    """Every operator with each of its sets of shapes, the most expensive first (device time where there is any)."""
    found = calls_of(depth) if calls is None else calls
    steps = max(depth.steps, 1)
    is_op = np.array([one.get("kind") in ("op", "runtime") for one in depth.objects], dtype=np.bool_)
    if not len(found) or not is_op.any():
        return []
    host = is_op[found.what]
    launched = np.zeros(len(found), dtype=np.int64)
    caused = found.cause >= 0
    np.add.at(launched, found.cause[caused], found.lasted_ns[caused])
    size = len(depth.objects)
    calls_by = np.bincount(found.what[host], minlength=size)
    host_by = np.bincount(found.what[host], weights=found.self_ns[host], minlength=size)
    device_by = np.bincount(found.what[host], weights=launched[host], minlength=size)
    rows = [
        OperatorRow(
            name=str(one["name"]),
            shapes=str(one.get("shapes", "")),
            calls=float(calls_by[at]) / steps,
            host_s=float(host_by[at]) / 1e9 / steps,
            device_s=float(device_by[at]) / 1e9 / steps,
        )
        for at, one in enumerate(depth.objects)
        if calls_by[at]
    ]
    on_device = any(row.device_s for row in rows)
    return sorted(rows, key=lambda row: (row.device_s if on_device else row.host_s, row.host_s), reverse=True)


def copies(depth: Depth, calls: Calls | None = None) -> list[CopyRow]:
    """Copies by where from and where to, the largest first."""
    found = calls_of(depth) if calls is None else calls
    steps = max(depth.steps, 1)
    table: dict[tuple[str, str], list[float]] = {}
    for what, lasted_ns in zip(found.what.tolist(), found.lasted_ns.tolist(), strict=True):
        one = depth.objects[what]
        if one.get("kind") == "copy":
            row = table.setdefault((str(one.get("source", "")), str(one.get("target", ""))), [0.0, 0.0, 0.0])
            row[0] += 1
            row[1] += float(one.get("bytes", 0))
            row[2] += lasted_ns
    rows = [
        CopyRow(source=source, target=target, calls=n / steps, copied_bytes=size / steps, device_s=ns / 1e9 / steps)
        for (source, target), (n, size, ns) in table.items()
    ]
    return sorted(rows, key=lambda row: row.copied_bytes, reverse=True)


def devices(depth: Depth, calls: Calls | None = None) -> list[DeviceRow]:
    """Each stream on which something ran."""
    found = calls_of(depth) if calls is None else calls
    if not len(found):
        return []
    span_ns = int((found.began_ns + found.lasted_ns).max() - found.began_ns.min())
    rows = []
    for at, track in enumerate(depth.tracks):
        if track.get("kind") != "device":
            continue
        own = np.flatnonzero(found.where == at)
        kernels = own[[depth.objects[what].get("kind") == "kernel" for what in found.what[own].tolist()]]
        rows.append(
            DeviceRow(
                name=str(track["name"]),
                busy_share=_covered_ns(found.began_ns[own], found.lasted_ns[own]) / max(span_ns, 1),
                kernels=len(kernels) / max(depth.steps, 1),
                median_kernel_s=float(np.median(found.lasted_ns[kernels])) / 1e9 if len(kernels) else 0.0,
            )
        )
    return rows


@dataclass(frozen=True)
class Outside:
    """Where the time went that lies in no phase, over the recorded steps.

    Attributes:
        seconds: All of it.
        operators: Outermost operators that ran in it, each with its share, the longest first.
        python_share: Share in which no operator ran: Python code between them.
    """

    seconds: float
    operators: list[tuple[str, float]]
    python_share: float


def outside(depth: Depth, log: EventLog, calls: Calls | None = None) -> Outside | None:
    """What ran between the phases of the recorded steps.

    Args:
        depth: The recording.
        log: The event log of the same process.
        calls: The recording's calls, if they are unpacked already.

    Returns:
        ``None`` when nothing was recorded, or nothing lies between.
    """
    found = calls_of(depth) if calls is None else calls
    gaps = _gaps(log)
    total_ns = sum(end - begin for begin, end in gaps)
    host = np.array([track.get("kind") == "thread" for track in depth.tracks], dtype=np.bool_)
    if not total_ns or not len(found) or not host.any():
        return None
    busiest = int(np.bincount(found.where[host[found.where]]).argmax())  # the thread that trains
    outermost = np.flatnonzero((found.where == busiest) & (found.parent < 0))
    spent: dict[str, int] = {}
    begins, ends = found.began_ns[outermost], (found.began_ns + found.lasted_ns)[outermost]
    for begin, end in gaps:
        inside = np.minimum(ends, end) - np.maximum(begins, begin)
        for at in np.flatnonzero(inside > 0).tolist():
            name = str(depth.objects[int(found.what[outermost[at]])]["name"])
            spent[name] = spent.get(name, 0) + int(inside[at])
    shares = sorted(((name, ns / total_ns) for name, ns in spent.items()), key=lambda pair: -pair[1])
    return Outside(total_ns / 1e9, shares, max(0.0, 1.0 - sum(share for _, share in shares)))


def _gaps(log: EventLog) -> list[tuple[int, int]]:
    """Stretches of the recorded steps that no span of the host covers."""
    t_ns = np.frombuffer(log.t_ns, dtype="<i8")
    code = np.frombuffer(log.code, dtype="<i8")
    kind = code & events.KIND_MASK
    host = (code >> events.STREAM_SHIFT & events.STREAM_MASK) == 0
    opened, closed = t_ns[kind == events.DEPTH_BEGIN], t_ns[kind == events.DEPTH_END]
    if not len(opened) or not len(closed):
        return []
    first, last = int(opened.max()), int(closed.max())
    chosen = host & (kind <= events.AWAY_END) & (kind != events.PAUSE) & (kind != events.RESUME)
    chosen &= (t_ns >= first) & (t_ns <= last)
    order = np.argsort(t_ns[chosen], kind="stable")
    gaps, depth, free = [], 0, first
    for t, one in zip(t_ns[chosen][order].tolist(), kind[chosen][order].tolist(), strict=True):
        if one % 2 == 0:
            if not depth and t > free:
                gaps.append((free, t))
            depth += 1
        else:
            depth = max(0, depth - 1)
            free = t
    if not depth and last > free:
        gaps.append((free, last))
    return gaps


def _unpacked(series: bytes) -> Ints:
    try:
        return np.frombuffer(zlib.decompress(series), dtype="<i8").astype(np.int64) if series else np.zeros(0, np.int64)
    except zlib.error as error:
        raise ValueError(f"a series of a recording is damaged ({error})") from error


def _nest(own: Ints, began_ns: Ints, lasted_ns: Ints, parent: Ints) -> None:
    """Write the parent of each call of one thread: the latest one that began before and has not ended."""
    order = own[np.lexsort((-lasted_ns[own], began_ns[own]))]
    stack: list[int] = []
    begins, ends = began_ns.tolist(), (began_ns + lasted_ns).tolist()
    for at in order.tolist():
        while stack and ends[stack[-1]] <= begins[at]:
            stack.pop()
        if stack and ends[at] <= ends[stack[-1]]:
            parent[at] = stack[-1]
        stack.append(at)


def _covered_ns(began_ns: Ints, lasted_ns: Ints) -> int:
    """Length of the union of some spans."""
    if not len(began_ns):
        return 0
    order = np.argsort(began_ns, kind="stable")
    begins, ends = began_ns[order], np.maximum.accumulate((began_ns + lasted_ns)[order])
    gaps = np.maximum(begins[1:] - ends[:-1], 0)
    return int(ends[-1] - begins[0] - gaps.sum())
