"""From what an attached process left behind to a record like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from pacenote._version import __version__
from pacenote.depth import from_message
from pacenote.engines.spool import Attached, gated
from pacenote.levers import LEVERS
from pacenote.records import (
    ColdStart,
    Counters,
    Effort,
    EventLog,
    LeverOutcome,
    Memory,
    Outcome,
    Reading,
    Record,
    Scalar,
    Status,
    TrialRecord,
    TrialSpec,
    Turn,
    new_id,
)
from pacenote.runner.slot import memory
from pacenote.segment import segment
from pacenote.system.process import Footprint

WARM_S: Final = 0.5
"""Least warm-up of a script, as of a workload's trial."""


class Sample(Record, frozen=True, kw_only=True):
    """The machine at one moment while a script ran.

    Attributes:
        t_ns: When, on the clock that events are stamped with.
        counters: What changed since the sample before.
        footprints: Memory of each process that trains, by process id.
    """

    t_ns: int
    counters: Counters
    footprints: dict[int, Footprint] = {}


class Run(Record, frozen=True, kw_only=True):
    """What is known of a script besides what its processes say.

    Attributes:
        name: What the script is called.
        spawned_ns: When it was started, on the events' clock.
        started_unix_s: The same as the time of day.
        exit_code: How it ended.
        machine_id: The machine.
        levers: Levers asked for.
        samples: The machine while it ran.
        before: The machine right before.
    """

    name: str
    spawned_ns: int
    started_unix_s: float
    exit_code: int
    machine_id: str
    levers: dict[str, Scalar] = {}
    samples: list[Sample] = []
    before: dict[str, Any] = {}


def spec_of(one: Attached, run: Run) -> TrialSpec:
    """The question that one process answered; ranks are told apart as values of a lever."""
    levers = dict(run.levers)
    if one.world_size > 1:
        levers.update(rank=one.rank, world_size=one.world_size)
    return TrialSpec(workload=run.name, framework=one.framework, device=one.device, levers=levers)


def record_of(
    one: Attached, run: Run, *, environment_hash: str, parent_id: str | None, trial_id: str = ""
) -> TrialRecord:
    """Put together what one process did.

    Args:
        one: What it left behind.
        run: What is known of the script.
        environment_hash: Of its framework and the machine.
        parent_id: The record of rank 0; ``None`` for rank 0 itself and for a process that trains alone.
        trial_id: Its id; a new one by default.
    """
    events, cut_ns = gated(one.log(), warm_s=WARM_S)
    spec = spec_of(one, run)
    found = segment(events)
    turns = turns_of(one, run, events, cut_ns, found.turns.steps)
    return TrialRecord(
        id=trial_id or new_id(),
        spec=spec,
        spec_hash=spec.hash(),
        environment_hash=environment_hash,
        machine_id=run.machine_id,
        replicate=0,
        parent_id=parent_id,
        rank=one.rank,
        world_size=one.world_size,
        version=__version__,
        started_unix_s=float(one.hello.get("unix_s", run.started_unix_s)),
        effort=Effort(),
        outcome=outcome_of(one, run),
        cold_start=ColdStart(
            process_s=_seconds(run.spawned_ns, one.hello.get("began_ns")),
            import_s=one.hello.get("import_s"),
            first_step_s=float(found.total_s[0]) if len(found) else None,
        ),
        turns=turns,
        events=events,
        memory=memory_of(one, run, spec, turns),
        levers=lever_outcomes(run, one.told("levers", {})),
        framework=dict(one.told("framework", {})),
        data={"source": "script"},
        before=run.before,
        samples_per_step=samples_per_step(one, found.counts),
        flop_per_sample=Reading(reason="no_formula"),
        ceiling_flops=Reading(reason="not_calibrated"),
        ceiling_bytes_per_s=Reading(reason="not_calibrated"),
        depth=from_message(one.depth) if one.depth else None,
    )


def lever_outcomes(run: Run, told: Mapping[str, Any]) -> list[LeverOutcome]:
    """Whether each lever was seen to have taken effect; without a word from the process nothing was seen."""
    observed, reasons = dict(told.get("observed", {})), dict(told.get("reasons", {}))
    made = []
    for name, asked in run.levers.items():
        found = LEVERS.get(name).outcome(asked, observed)
        if not found.applied and name in reasons:
            found = msgspec.structs.replace(found, applied=False, reason=reasons[name])
        made.append(found)
    return made


def outcome_of(one: Attached, run: Run) -> Outcome:
    """How a process ended. Steps that were measured count even when what came after them failed."""
    error = str(one.end.get("error", ""))
    if not one.end:
        return Outcome(status=Status.FINISHED if one.trained else Status.KILLED, exit_code=None)
    return Outcome(status=Status.FINISHED, exit_code=run.exit_code, error_type=error or None)


def turns_of(one: Attached, run: Run, events: EventLog, cut_ns: int, steps: NDArray[np.int64]) -> list[Turn]:
    """The warm-up and the rest, each with the machine's samples that lie in it."""
    t_ns = np.frombuffer(events.t_ns, dtype="<i8")
    if not len(t_ns):
        return []
    first, last = int(t_ns.min()), int(t_ns.max())
    bounds = [(first, cut_ns), (cut_ns, last)] if cut_ns else [(first, last)]
    losses = [(int(step), float(loss)) for part in one.parts for step, loss in part.get("losses", [])]
    copied = sum(int(part.get("copied_bytes", 0)) for part in one.parts)
    made = []
    for turn, (begin, end) in enumerate(bounds):
        inside = [sample for sample in run.samples if begin <= sample.t_ns <= end + _SAMPLE_SLACK_NS]
        is_last = turn == len(bounds) - 1
        device = one.told("device_memory", {}) if is_last else {}
        made.append(
            Turn(
                turn=turn,
                steps=int(steps[turn]) if turn < len(steps) else 0,
                counters=summed([sample.counters for sample in inside], (end - begin) / 1e9, _cpu_s(one, begin, end)),
                losses=losses if is_last else [],
                copied_bytes=copied if is_last else 0,
                device_allocated_bytes=device.get("allocated_bytes"),
                device_reserved_bytes=device.get("reserved_bytes"),
                device_peak_bytes=device.get("peak_bytes"),
            )
        )
    return made


_SAMPLE_SLACK_NS: Final = 50_000_000


def _cpu_s(one: Attached, begin_ns: int, end_ns: int) -> float:
    """CPU time of a process between two moments, from what it wrote: each writing's by the part that lies between."""
    total_s, before_ns = 0.0, int(one.hello.get("t_ns", begin_ns))
    for part in one.parts:
        at_ns = int(part.get("t_ns", before_ns))
        inside_ns = min(at_ns, end_ns) - max(before_ns, begin_ns)
        if inside_ns > 0:
            total_s += float(part.get("cpu_s", 0.0)) * inside_ns / (at_ns - before_ns)
        before_ns = at_ns
    return total_s


def summed(counters: Sequence[Counters], wall_s: float, cpu_s: float) -> Counters:
    """Counters of several spans of time put together; what was missing in one of them is missing.

    Without a sample (a script that ended within a second of its start) only what the process wrote itself is known.
    """
    if not counters:
        return Counters(wall_s=wall_s, child_cpu_s=cpu_s)
    total: dict[str, Any] = {}
    for name in Counters.__struct_fields__:
        values = [getattr(one, name) for one in counters]
        total[name] = None if any(value is None for value in values) else sum(values)
    return Counters(**total)


def memory_of(one: Attached, run: Run, spec: TrialSpec, turns: list[Turn]) -> Memory:
    """Memory of one process: as of a trial, from the samples taken while it lived; peak and faults it counts itself."""
    seen = [sample.footprints[one.pid] for sample in run.samples if one.pid in sample.footprints]
    own, never = one.told("rss_peak_bytes", None), Reading(reason="never_sampled")
    found = msgspec.structs.replace(
        memory(spec, seen, turns),
        rss_peak_bytes=never if own is None else Reading(value=float(own), method="measured"),
        major_faults=_counted(one, "major_faults"),
        minor_faults=_counted(one, "minor_faults"),
    )
    return found if seen else msgspec.structs.replace(found, pss_bytes=never, swap_bytes=never)


def samples_per_step(one: Attached, counts: Mapping[str, NDArray[np.int64]]) -> int | None:
    """Batch size of the loader that is trained from, times the batches of a step; ``None`` when nothing says it.

    Without a loader, the first dimension of what the root module was called with, times its calls per step.
    """
    loaders = [size for item in one.objects if item.get("kind") == "loader" and (size := item.get("batch_size"))]
    for sizes, name in ((loaders, "data_wait"), (_batches(one), "forward")):
        per_step = counts.get(name)
        if sizes and per_step is not None and len(per_step) and np.median(per_step) >= 1:
            return int(sizes[0]) * int(np.median(per_step))
    return None


def _batches(one: Attached) -> list[int]:
    return [int(item["batch"]) for item in one.objects if item.get("role") == "forward" and item.get("batch")]


def _counted(one: Attached, name: str) -> Reading:
    values = [part[name] for part in one.parts if name in part]
    return Reading(value=float(sum(values)), method="counted") if values else Reading(reason="not_counted")


def _seconds(began_ns: int, ended_ns: Any) -> float | None:
    return (int(ended_ns) - began_ns) / 1e9 if ended_ns is not None else None
