"""A stored run as a trace that Perfetto and chrome://tracing open.

Format: "Trace Event Format" (Google, the JSON object format with complete events ``ph: X``; times in microseconds).
One process per rank; its rows are the steps, the phases of host and device, and what was recorded in depth.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from pacenote.child import events
from pacenote.depth import calls_of
from pacenote.records import EventLog, TrialRecord
from pacenote.segment import segment

NAMES: Final = {
    events.DATA_BEGIN: "data wait",
    events.COPY_BEGIN: "copy",
    events.FORWARD_BEGIN: "forward",
    events.LOSS_BEGIN: "loss",
    events.BACKWARD_BEGIN: "backward",
    events.OPTIMIZER_BEGIN: "optimizer",
    events.ZERO_BEGIN: "zero gradients",
    events.USER_BEGIN: "region",
    events.AWAY_BEGIN: "pacenote",
    events.DEPTH_BEGIN: "recorded in depth",
}
_STEPS, _HOST, _DEVICE, _DEPTH = 1, 2, 3, 10
"""Rows of a process, in the order in which they are shown."""


def trace(records: Sequence[TrialRecord], last_steps: int | None = None) -> dict[str, Any]:
    """Write records as one trace.

    Args:
        records: Processes, each with its event log.
        last_steps: Only so many of the last steps of each; all by default.

    Returns:
        A JSON object with ``traceEvents``.
    """
    shown: list[dict[str, Any]] = []
    for number, record in enumerate(records):
        shown += _process(record, number, last_steps)
    return {
        "traceEvents": shown,
        "displayTimeUnit": "ms",
        "otherData": {"source": "pacenote", "trials": [record.id for record in records]},
    }


def _process(record: TrialRecord, number: int, last_steps: int | None) -> Iterator[dict[str, Any]]:
    spans = list(_spans(record.events))
    steps = _step_ends(record.events)
    if last_steps is not None and len(steps) > last_steps:
        first = steps[-last_steps - 1]
        spans = [span for span in spans if span[2] >= first]
        steps = steps[-last_steps - 1 :]
    if not spans:
        return
    zero = min(steps[0] if steps else spans[0][2], min(span[2] for span in spans))
    label = f"{record.spec.workload} ({record.spec.framework}, {record.spec.device})"
    yield _meta("process_name", number, 0, f"{label} rank {record.rank}" if record.world_size > 1 else label)
    rows = {_STEPS: "steps", _HOST: "host", _DEVICE: "device"}
    used = {_STEPS, *(_DEVICE if stream else _HOST for _, stream, _, _, _ in spans)}
    for row in sorted(used):
        yield _meta("thread_name", number, row, rows[row])
        yield {"ph": "M", "name": "thread_sort_index", "pid": number, "tid": row, "args": {"sort_index": row}}
    for at, (begin, end) in enumerate(itertools.pairwise(steps)):
        yield _complete(f"step {at + 1}", "step", (number, _STEPS), begin - zero, end - begin)
    for kind, stream, begin, end, index in spans:
        row = _DEVICE if stream else _HOST
        found = record.events.objects[index] if index < len(record.events.objects) else {}
        facts = {"object": str(found["name"])} if "name" in found and kind < events.AWAY_BEGIN else {}
        yield _complete(NAMES[kind], "phase", (number, row), begin - zero, end - begin, facts=facts)
    yield from _depth(record, number, zero)


def _spans(log: EventLog) -> Iterator[tuple[int, int, int, int, int]]:
    """Kind, stream, begin, end and object of each span that was closed, in order of its end."""
    t_ns = np.frombuffer(log.t_ns, dtype="<i8")
    code = np.frombuffer(log.code, dtype="<i8")
    order = np.argsort(t_ns, kind="stable")
    waiting: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for t, one in zip(t_ns[order].tolist(), code[order].tolist(), strict=True):
        kind, stream = one & events.KIND_MASK, one >> events.STREAM_SHIFT & events.STREAM_MASK
        if kind in NAMES:
            waiting.setdefault((kind, stream), []).append((t, one >> events.OBJECT_SHIFT))
        elif kind - 1 in NAMES and waiting.get((kind - 1, stream)):
            begin, index = waiting[kind - 1, stream].pop()
            yield kind - 1, stream, begin, t, index


def _step_ends(log: EventLog) -> list[int]:
    """Times at which steps ended, preceded by the time at which the first began."""
    found = segment(log)
    if not len(found):
        return []
    kinds = {"optimizer": events.OPTIMIZER_END, "backward": events.BACKWARD_END, "data": events.DATA_END}
    t_ns = np.frombuffer(log.t_ns, dtype="<i8")
    code = np.frombuffer(log.code, dtype="<i8")
    host = (code >> events.STREAM_SHIFT & events.STREAM_MASK) == 0
    ends = np.sort(t_ns[host & ((code & events.KIND_MASK) == kinds[found.anchor])])
    if len(ends) != len(found):  # several optimizers, or nested ones: the step's own lengths, back from the last end
        ends = ends[-1] - np.concatenate((np.cumsum(found.total_s[:0:-1])[::-1], [0.0])) * 1e9
    first = ends[0] - found.total_s[0] * 1e9
    return [int(value) for value in (first, *ends)]


def _depth(record: TrialRecord, number: int, zero: int) -> Iterator[dict[str, Any]]:
    depth = record.depth
    if depth is None or not depth.steps:
        return
    calls = calls_of(depth)
    for at, track in enumerate(depth.tracks):
        yield _meta("thread_name", number, _DEPTH + at, f"{track.get('kind', '')} {track.get('name', '')}".strip())
    columns = (calls.began_ns, calls.lasted_ns, calls.what, calls.where, calls.cause)
    for began, lasted, what, where, cause in zip(*(column.tolist() for column in columns), strict=True):
        found = depth.objects[what]
        facts = {name: value for name, value in found.items() if name not in ("kind", "name")}
        if cause >= 0:
            facts["launched by"] = str(depth.objects[int(calls.what[cause])]["name"])
        yield _complete(
            str(found["name"]), str(found["kind"]), (number, _DEPTH + where), began - zero, lasted, facts=facts
        )


def _meta(name: str, process: int, thread: int, shown: str) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": process, "tid": thread, "args": {"name": shown}}


def _complete(
    name: str, category: str, row: tuple[int, int], began_ns: float, lasted_ns: float, *, facts: Any = None
) -> dict[str, Any]:
    span = {
        "ph": "X",
        "name": name,
        "cat": category,
        "pid": row[0],
        "tid": row[1],
        "ts": began_ns / 1e3,
        "dur": lasted_ns / 1e3,
    }
    return {**span, "args": facts} if facts else span
