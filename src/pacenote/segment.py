"""From an event log to steps and phases: a pure function, run on read.

A step ends where its *anchor* ends: the outermost call of the optimizer that steps least often (ties: the
one that steps last), else backward, else a fetched batch. Time is given to the innermost open span (an
exclusive sweep), so a forward pass inside ``optimizer.step(closure)`` is forward time, and the phases of a
step always sum to the step.

Three kinds of time belong to no step: the pause between turns, our own work in a program that runs freely, and what
lies between the last step of a turn and its pause when no work had begun there (synchronising with the device, our own
gate). The last is kept per turn as ``tail_s``: on a device that runs behind the host it is part of what the turn's
steps took.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pacenote.child import events
from pacenote.records import EventLog

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

PHASES: Final = ("data_wait", "copy", "forward", "backward", "optimizer", "other")
COUNTED: Final = ("data_wait", "copy", "forward", "loss", "backward", "optimizer")

_OTHER: Final = PHASES.index("other")
_LOSS: Final = len(PHASES)  # swept on its own, then added to forward
_PHASE_OF: Final = {
    events.DATA_BEGIN: 0,
    events.COPY_BEGIN: 1,
    events.FORWARD_BEGIN: 2,
    events.LOSS_BEGIN: _LOSS,
    events.BACKWARD_BEGIN: 3,
    events.OPTIMIZER_BEGIN: 4,
    events.ZERO_BEGIN: 4,
}
_COUNT_KINDS: Final = dict(
    zip(
        COUNTED,
        (
            events.DATA_BEGIN,
            events.COPY_BEGIN,
            events.FORWARD_BEGIN,
            events.LOSS_BEGIN,
            events.BACKWARD_BEGIN,
            events.OPTIMIZER_BEGIN,
        ),
        strict=True,
    )
)


@dataclass(frozen=True)
class Turns:
    """The turns seen in a log, in order; all arrays have one entry per turn.

    Attributes:
        turn: Its number: the first RESUME opens turn 0.
        span_s: RESUME to PAUSE (to the last event, when the log ends inside the turn).
        tail_s: What came after the turn's last step and before its pause.
        steps: Steps that ended in the turn.
    """

    turn: Ints
    span_s: Floats
    tail_s: Floats
    steps: Ints


@dataclass(frozen=True)
class Segments:
    """Steps of one event log; all arrays have one entry per step.

    Attributes:
        anchor: What closes a step: ``"optimizer"``, ``"backward"``, ``"data"`` or ``"none"`` (no steps).
        total_s: Length of each step; equal to the sum of its phases.
        phases: Exclusive time per phase, keys as in :data:`PHASES`.
        loss_s: The part of forward that was spent in loss modules.
        turn: The turn in which the step ended.
        first_of_turn: Whether the step is the first to end in its turn (it pays for the pause).
        evaluation: Whether the step contains evaluation passes and so stands for no training step.
        depth: Whether the step was recorded in depth, which slows it down.
        counts: How often each kind of span began inside the step, keys as in :data:`COUNTED`.
        turns: The turns themselves.
    """

    anchor: str
    total_s: Floats
    phases: dict[str, Floats]
    loss_s: Floats
    turn: Ints
    first_of_turn: Bools
    evaluation: Bools
    depth: Bools
    counts: dict[str, Ints]
    turns: Turns

    def __len__(self) -> int:
        """How many steps there are."""
        return len(self.total_s)


@dataclass(frozen=True)
class _Events:
    """The events of one stream (and the gate's, which are the host's), in time order."""

    t_ns: Ints
    kind: Ints
    grad: Bools
    index: Ints


@dataclass(frozen=True)
class _Sweep:
    """What one pass over the events finds out.

    ``label[i]`` is the phase that was running between event ``i - 1`` and event ``i``; ``outermost[i]`` tells
    whether event ``i`` opens or closes a span that lies in no other span of the same kind.
    """

    label: Ints
    outermost: Bools


def segment(log: EventLog, stream: int = 0) -> Segments:
    """Cut the log of one stream (0 is the host) into steps and phases."""
    seen = _read(log, stream)
    sweep = _sweep(seen)
    anchor, ends = _anchor(seen, sweep)
    resumes = seen.t_ns[seen.kind == events.RESUME]
    if len(resumes):
        ends = ends[seen.t_ns[ends] >= resumes[0]]  # before the first turn is building
    turn_of_event = np.maximum(np.cumsum(seen.kind == events.RESUME) - 1, 0)
    active_ns = _active_clock(seen, sweep, ends)
    return _steps(seen, sweep, _Cuts(anchor, ends, turn_of_event, active_ns))


@dataclass(frozen=True)
class _Cuts:
    """Events at which steps end, the turn of each event, and the clock that stands still while paused."""

    anchor: str
    ends: Ints
    turn_of_event: Ints
    active_ns: Ints


def _read(log: EventLog, stream: int) -> _Events:
    t_ns = np.frombuffer(log.t_ns, dtype="<i8").astype(np.int64)
    code = np.frombuffer(log.code, dtype="<i8").astype(np.int64)
    kind = code & events.KIND_MASK
    # What is not a span of the program is the host's; a device's mark of the gate repeats it.
    hosts = (kind == events.PAUSE) | (kind == events.RESUME) | (kind >= events.AWAY_BEGIN)
    of_stream = code >> events.STREAM_SHIFT & events.STREAM_MASK
    keep = np.where(hosts, of_stream == 0, of_stream == stream)
    t_ns, code, kind = t_ns[keep], code[keep], kind[keep]
    order = np.argsort(t_ns, kind="stable")  # a hook may append its opening event late, with the earlier time
    t_ns, code, kind = t_ns[order], code[order], kind[order]
    return _Events(t_ns, kind, (code & events.GRAD_BIT) != 0, code >> events.OBJECT_SHIFT)


def _matched(kinds: list[int]) -> list[bool]:
    """Tell which span events have their partner; an exception can leave an opening event without one."""
    matched = [False] * len(kinds)
    waiting: dict[int, list[int]] = {begin: [] for begin in _PHASE_OF}
    for at, kind in enumerate(kinds):
        if kind in waiting:
            waiting[kind].append(at)
        elif kind - 1 in waiting and waiting[kind - 1]:
            matched[at] = matched[waiting[kind - 1].pop()] = True
    return matched


def _sweep(seen: _Events) -> _Sweep:
    kinds: list[int] = seen.kind.tolist()
    matched = _matched(kinds)
    label = np.full(len(kinds), _OTHER, dtype=np.int64)
    outermost = np.zeros(len(kinds), dtype=np.bool_)
    stack: list[int] = []
    for at, kind in enumerate(kinds):
        if stack:
            label[at] = _PHASE_OF[stack[-1]]
        if not matched[at]:
            continue
        if kind in _PHASE_OF:
            outermost[at] = kind not in stack
            stack.append(kind)
        else:
            # The latest of its kind, not the top: a loader driven by another thread does not nest.
            del stack[len(stack) - 1 - stack[::-1].index(kind - 1)]
            outermost[at] = kind - 1 not in stack
    return _Sweep(label, outermost)


def _anchor(seen: _Events, sweep: _Sweep) -> tuple[str, Ints]:
    """Choose what closes a step, and where it does."""
    for name, kind in (
        ("optimizer", events.OPTIMIZER_END),
        ("backward", events.BACKWARD_END),
        ("data", events.DATA_END),
    ):
        ends = np.flatnonzero((seen.kind == kind) & sweep.outermost)
        if not len(ends):
            continue
        if name == "optimizer":
            indices = seen.index[ends].tolist()
            last = {index: at for at, index in enumerate(indices)}
            times = Counter(indices)
            chosen = min(times, key=lambda index: (times[index], -last[index]))
            ends = ends[seen.index[ends] == chosen]
        return name, ends
    return "none", np.zeros(0, dtype=np.int64)


def _active_clock(seen: _Events, sweep: _Sweep, ends: Ints) -> Ints:
    """Time of each event on a clock that stands still while no step can be running.

    It stands still before the first RESUME, from each PAUSE to the next RESUME, and, when no span has begun
    since the last step ended, from that end to the PAUSE; also while we are at work ourselves (AWAY).
    """
    running = np.ones(len(seen.t_ns), dtype=np.bool_)  # of the interval that ends at each event
    if len(running):
        running[0] = False
    gates = np.flatnonzero((seen.kind == events.PAUSE) | (seen.kind == events.RESUME))
    if len(gates) and seen.kind[gates[0]] == events.RESUME:
        running[: gates[0] + 1] = False
    for at, gate in enumerate(gates.tolist()):
        if seen.kind[gate] != events.PAUSE:
            continue
        resume = int(gates[at + 1]) if at + 1 < len(gates) else len(running) - 1
        running[gate + 1 : resume + 1] = False
        before = np.searchsorted(ends, gate) - 1
        if before >= 0 and not sweep.outermost[ends[before] + 1 : gate].any():
            running[ends[before] + 1 : gate + 1] = False
    running &= ~_within(seen.kind, events.AWAY_BEGIN)
    return np.cumsum(np.where(running, np.diff(seen.t_ns, prepend=seen.t_ns[:1]), 0))


def _within(kind: Ints, begin: int) -> Bools:
    """Whether the interval that ends at each event lies between ``begin`` and the event that closes it."""
    opened = np.cumsum(kind == begin) - np.cumsum(kind == begin + 1)
    return np.concatenate((np.zeros(min(1, len(kind)), dtype=np.bool_), opened[:-1] > 0))


def _steps(seen: _Events, sweep: _Sweep, cuts: _Cuts) -> Segments:
    ends, count = cuts.ends, len(cuts.ends)
    # side="left": the event that ends a step belongs to the step it closes
    step_of = np.searchsorted(ends, np.arange(len(seen.t_ns)), side="left")
    inside = step_of < count
    spent_ns = np.diff(cuts.active_ns, prepend=cuts.active_ns[:1])
    table = np.zeros((count, len(PHASES) + 1), dtype=np.int64)
    np.add.at(table, (step_of[inside], sweep.label[inside]), spent_ns[inside])
    loss_ns = table[:, _LOSS].copy()
    table[:, PHASES.index("forward")] += loss_ns
    table = table[:, : len(PHASES)]
    turn = cuts.turn_of_event[ends]
    first = np.ones(count, dtype=np.bool_)
    first[1:] = turn[1:] != turn[:-1]
    counts = {
        name: _count(step_of, (seen.kind == kind) & sweep.outermost, count) for name, kind in _COUNT_KINDS.items()
    }
    return Segments(
        anchor=cuts.anchor,
        total_s=table.sum(axis=1) / 1e9,
        phases={name: table[:, at] / 1e9 for at, name in enumerate(PHASES)},
        loss_s=loss_ns / 1e9,
        turn=turn,
        first_of_turn=first,
        evaluation=_evaluation(seen, sweep, step_of, count),
        depth=_count(step_of, _within(seen.kind, events.DEPTH_BEGIN), count) > 0,
        counts=counts,
        turns=_turns(seen, cuts),
    )


def _count(step_of: Ints, chosen: Bools, count: int) -> Ints:
    return np.bincount(step_of[chosen], minlength=count + 1)[:count].astype(np.int64)


def _evaluation(seen: _Events, sweep: _Sweep, step_of: Ints, count: int) -> Bools:
    """Tell which steps hold evaluation: passes without gradients, or batches that are never trained on.

    A program may do one of these in every step (a frozen teacher, a generator run for its critic, two loaders
    read side by side), so a step stands out only when it holds more than twice what the median step holds.
    """
    begins = sweep.outermost & ((seen.kind == events.FORWARD_BEGIN) | (seen.kind == events.DATA_BEGIN))
    suspect = begins & ~seen.grad
    fetches = begins & (seen.kind == events.DATA_BEGIN)
    trained = _trained_loaders(seen, sweep)
    if trained:
        suspect |= fetches & ~np.isin(seen.index, sorted(trained))
    found = _count(step_of, suspect, count)
    return found > 2 * (np.median(found) if count else 0.0)


def _trained_loaders(seen: _Events, sweep: _Sweep) -> set[int]:
    """Loaders that were the last one read from, with gradients on, when some backward began."""
    trained: set[int] = set()
    latest: int | None = None
    chosen = sweep.outermost & ((seen.kind == events.DATA_BEGIN) | (seen.kind == events.BACKWARD_BEGIN))
    for at in np.flatnonzero(chosen).tolist():
        if seen.kind[at] == events.DATA_BEGIN:
            latest = int(seen.index[at]) if seen.grad[at] else None
        elif latest is not None:
            trained.add(latest)
    return trained


def _turns(seen: _Events, cuts: _Cuts) -> Turns:
    opens = np.flatnonzero(seen.kind == events.RESUME)
    if not len(opens):
        opens = np.zeros(min(1, len(seen.t_ns)), dtype=np.int64)
    rows: list[tuple[int, int, int]] = []
    for at, opened in enumerate(opens.tolist()):
        beyond = int(opens[at + 1]) if at + 1 < len(opens) else len(seen.t_ns)
        pauses = np.flatnonzero(seen.kind[opened:beyond] == events.PAUSE)
        closed = opened + int(pauses[0]) if len(pauses) else beyond - 1
        ended = cuts.ends[(cuts.ends >= opened) & (cuts.ends < beyond)]
        last = int(ended[-1]) if len(ended) else opened
        rows.append((seen.t_ns[closed] - seen.t_ns[opened], seen.t_ns[closed] - seen.t_ns[last], len(ended)))
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return Turns(np.arange(len(rows), dtype=np.int64), table[:, 0] / 1e9, table[:, 1] / 1e9, table[:, 2])
