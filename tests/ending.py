"""Ends of spans, for tests that play the part of the probe's hooks."""

from __future__ import annotations

from pacenote.child import events
from pacenote.child.recorder import Recorder

BEGINS = {"optimizer": events.OPTIMIZER_BEGIN, "backward": events.BACKWARD_BEGIN, "data": events.DATA_BEGIN}


def ended(recorder: Recorder, kind: str = "optimizer", index: int = 0) -> None:
    """Record a span of no length that ends now, and tell the gate as a hook does: once it is reached."""
    add, clock, _ = recorder.hot()
    now_ns = clock()
    add((events.code(BEGINS[kind], index=index), now_ns, now_ns))
    if now_ns >= recorder.gate[0]:
        recorder.passed(kind, index)
