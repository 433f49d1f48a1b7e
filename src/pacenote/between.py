"""Where in the loop the time lies that no phase claims: after which phase, and before which.

A pure function of an event log. It needs no recording in depth, so it names the place in runs too short for one; what
ran there only :func:`pacenote.depth.outside` can tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pacenote.child import events
from pacenote.records import EventLog

PHASE_OF: Final = {
    events.DATA_BEGIN: "data_wait",
    events.COPY_BEGIN: "copy",
    events.FORWARD_BEGIN: "forward",
    events.LOSS_BEGIN: "forward",
    events.BACKWARD_BEGIN: "backward",
    events.OPTIMIZER_BEGIN: "optimizer",
    events.ZERO_BEGIN: "optimizer",
}
"""As in :mod:`pacenote.segment`: a loss belongs to forward, clearing gradients to the optimizer."""

EVALUATED: Final = (events.DATA_BEGIN, events.FORWARD_BEGIN, events.LOSS_BEGIN)
"""Spans that tell by their gradients being off that the program evaluates; an optimizer's are off in training."""


@dataclass(frozen=True)
class Place:
    """A place in the loop.

    Attributes:
        after: Phase that ended last before it.
        before: Phase that began next.
        seconds: Time that lies there, over the whole log.
        share: Of the time that lies between phases.
    """

    after: str
    before: str
    seconds: float
    share: float


def places(log: EventLog) -> list[Place]:
    """Where the time between phases lies, the longest first.

    Only what lies between two phases with gradients on counts: before the first phase a program builds, beside one
    without gradients it evaluates. Pauses, our own work and steps recorded in depth are left out.
    """
    spent: dict[tuple[str, str], int] = {}
    for after, before, lasted_ns in _between(log):
        spent[after, before] = spent.get((after, before), 0) + lasted_ns
    total_ns = sum(spent.values())
    found = [Place(after, before, ns / 1e9, ns / total_ns) for (after, before), ns in spent.items() if ns]
    return sorted(found, key=lambda place: (-place.seconds, place.after, place.before))


def _between(log: EventLog) -> list[tuple[str, str, int]]:
    """Every stretch of the host that no phase covers, with the phases on both sides."""
    t_ns = np.frombuffer(log.t_ns, dtype="<i8")
    code = np.frombuffer(log.code, dtype="<i8")
    kind = code & events.KIND_MASK
    hosts = (code >> events.STREAM_SHIFT & events.STREAM_MASK) == 0
    chosen = hosts & (kind != events.USER_BEGIN) & (kind != events.USER_END)
    t_ns, code, kind = t_ns[chosen], code[chosen], kind[chosen]
    order = np.argsort(t_ns, kind="stable")
    found = []
    open_spans, in_depth = 0, False
    last: tuple[str, int] | None = None  # phase that ended with nothing else open, and when
    trains = ((code & events.GRAD_BIT) != 0) | ~np.isin(kind & ~1, EVALUATED)
    for at_ns, one, train in zip(t_ns[order].tolist(), kind[order].tolist(), trains[order].tolist(), strict=True):
        if one in PHASE_OF:
            if last is not None and not open_spans and train and not in_depth:
                found.append((last[0], PHASE_OF[one], at_ns - last[1]))
            open_spans, last = open_spans + 1, None
        elif one - 1 in PHASE_OF:
            open_spans = max(0, open_spans - 1)
            last = (PHASE_OF[one - 1], at_ns) if train and not open_spans else None
        else:  # the gate, our own work, a recording in depth
            in_depth = one == events.DEPTH_BEGIN or (in_depth and one != events.DEPTH_END)
            last = None
    return found
