"""One cell in one round: its child, what it answered, and the record made of that."""

from __future__ import annotations

import base64
import zlib
from typing import Any, Final

import numpy as np

from pacenote.engines import Child, Message
from pacenote.levers import LEVERS
from pacenote.records import (
    Cell,
    ColdStart,
    Counters,
    Effort,
    EventLog,
    LeverOutcome,
    Memory,
    Outcome,
    Reading,
    Record,
    Sensors,
    TrialRecord,
    TrialSpec,
    Turn,
)
from pacenote.runner.meters import Clock, Meters
from pacenote.segment import segment
from pacenote.system.process import Footprint

PSS_EVERY_TURNS: Final = 3
"""Turns between two readings of PSS. Training memory is flat after the warm-up; one reading takes up to 35 ms."""

MIN_STEPS_PER_TURN: Final = 5
"""The first step after a rest is dropped; the median of fewer than four is hardly better than one step."""

LONGEST_TURN: Final = 8
"""How many times its usual length a turn may be stretched for slow steps; beyond that turns lie too far apart."""

CLEAN_EXIT_S: Final = 20.0
"""Time to tear down a device or a loader's workers; more means that the teardown hangs."""


class Ceilings(Record, frozen=True, kw_only=True):
    """What this device can do at most, measured on it."""

    flops: Reading = Reading(reason="not_calibrated")
    bytes_per_s: Reading = Reading(reason="not_calibrated")


class Identity(Record, frozen=True, kw_only=True):
    """What a record says about where it belongs."""

    trial_id: str
    round: int
    machine_id: str
    version: str
    effort: Effort
    before: dict[str, Any] = {}


class Slot:
    """One child and everything measured of it so far."""

    def __init__(self, cell: Cell, identity: Identity, child: Child, *, meters: Meters, clock: Clock) -> None:
        self.cell = cell
        self.identity = identity
        self.child = child
        self.framework: dict[str, Any] = {}
        self.environment_hash = ""
        self.turns: list[Turn] = []
        self._meters = meters
        self._clock = clock
        self._began_s = clock.monotonic_s()
        self._began_unix_s = clock.unix_s()
        self._watch = meters.watch(cell.spec.device)
        self._cold: dict[str, float | None] = {}
        self._data: dict[str, Any] = {}
        self._t_ns: list[bytes] = []
        self._code: list[bytes] = []
        self._footprints: list[Footprint] = []
        self._done: Message = {}
        self._leaving = False

    def wait_ready(self) -> float:
        """Wait until the child stands at its gate; returns the seconds since it was started."""
        timeout_s = self.identity.effort.timeout_s
        hello = self.child.answer("hello", timeout_s)
        ready = self.child.answer("ready", timeout_s)
        self._cold = {
            # Both clocks count from the same moment (CLOCK_MONOTONIC and its kin are machine-wide).
            "process_s": max(0.0, hello["t_ns"] / 1e9 - self._began_s) if hello.get("t_ns") else None,
            **ready.get("cold_start", {}),
        }
        self.framework = {**ready.get("framework", {}), "python": hello.get("python")}
        self._data = ready.get("data", {})
        return self._clock.monotonic_s() - self._began_s

    def long_enough_s(self, turn_s: float) -> float:
        """Length of the next turn: ``turn_s``, or as long as a few steps take, within reason."""
        if not self.turns:
            return turn_s
        last = self.turns[-1]
        wanted_s = MIN_STEPS_PER_TURN * last.counters.wall_s / max(1, last.steps)
        return min(max(turn_s, wanted_s), LONGEST_TURN * turn_s)

    def take_turn(self, turn: int, *, seconds: float | None, steps: int | None) -> Turn:
        """Let the child train for one turn while everything else rests."""
        child, measured = self.child, turn > 0
        if measured:
            self._watch.begin()
        before = self._meters.read(child.pid)
        child.begin_turn(turn, seconds=seconds, steps=steps)
        message = child.answer("turn", self.identity.effort.timeout_s + (seconds or self.identity.effort.timeout_s))
        counters = self._meters.difference(before, self._meters.read(child.pid))
        if measured:
            self._watch.end()
        self._keep_events(message)
        if turn % PSS_EVERY_TURNS == 0:
            self._footprints.append(self._meters.footprint(child.pid))
        self.turns.append(_turn(turn, message, counters))
        return self.turns[-1]

    def begin_finish(self) -> None:
        """Read the memory a last time and ask the child to end; once is enough."""
        if not self._leaving:
            self._footprints.append(self._meters.footprint(self.child.pid))
            self._leaving = True
            self.child.begin_finish()

    def finish(self, timeout_s: float) -> Outcome:
        """Wait for the child's last word and its end."""
        self._done, outcome = self.child.finish(timeout_s, grace_s=leaving_s(self.cell.spec))
        return outcome

    def record(self, outcome: Outcome, ceilings: Ceilings) -> TrialRecord:
        """Put together what is known; also of a child that did not get far."""
        spec, identity = self.cell.spec, self.identity
        events = EventLog(
            t_ns=b"".join(self._t_ns), code=b"".join(self._code), objects=list(self._done.get("objects", []))
        )
        observed = dict(self._done.get("observed", {}))
        flags = observed.pop("debug_flags", None)
        sensors = self._watch.result() if any(turn.turn > 0 for turn in self.turns) else Sensors()
        self._watch.close()
        return TrialRecord(
            id=identity.trial_id,
            spec=spec,
            spec_hash=spec.hash(),
            environment_hash=self.environment_hash,
            machine_id=identity.machine_id,
            replicate=identity.round,
            round=identity.round,
            version=identity.version,
            started_unix_s=self._began_unix_s,
            effort=identity.effort,
            outcome=outcome,
            cold_start=ColdStart(**{**_known_cold(self._cold), "first_step_s": _first_step_s(events)}),
            turns=list(self.turns),
            events=events,
            memory=memory(spec, self._footprints, self.turns),
            sensors=sensors,
            levers=lever_outcomes(spec, observed) if self._done else [],
            framework={**self.framework, **({} if flags is None else {"debug_flags": flags})},
            data=self._data,
            before=identity.before,
            samples_per_step=self._done.get("samples_per_step"),
            flop_per_sample=_formula(self._done.get("flop_per_sample")),
            ceiling_flops=ceilings.flops,
            ceiling_bytes_per_s=ceilings.bytes_per_s,
        )

    def close(self) -> None:
        """End whatever still runs; harmless after a clean end."""
        self.child.kill()
        self._watch.close()

    def _keep_events(self, message: Message) -> None:
        for pair in (("t_ns", "code"), ("device_t_ns", "device_code")):
            if pair[0] in message:
                self._t_ns.append(unpack(message[pair[0]]))
                self._code.append(unpack(message[pair[1]]))


def leaving_s(spec: TrialSpec) -> float:
    """How long a child may take to leave after its last word.

    The framework's teardown measures nothing and takes 0.8 s on an idle core, 2 s on a busy one (PyTorch 2.13). It is
    waited for only where leaving cleanly gives something back: a device, or the shared memory of loader workers.
    """
    workers = spec.levers.get("loader_workers")
    return CLEAN_EXIT_S if spec.device != "cpu" or (isinstance(workers, int) and workers > 0) else 0.0


def unpack(text: str) -> bytes:
    """Undo ``child.events.pack`` without the detour over a Python array: little-endian bytes, as records keep them."""
    return zlib.decompress(base64.b64decode(text))


def memory(spec: TrialSpec, footprints: list[Footprint], turns: list[Turn]) -> Memory:
    """Sum up the memory readings of one trial."""
    none = Reading(reason="never_ran")
    on_cpu = spec.device == "cpu"
    absent = Reading(reason="device_is_cpu" if on_cpu else "not_reported") if turns else none
    return Memory(
        rss_peak_bytes=_largest([one.rss_peak_bytes for one in footprints]) or none,
        pss_bytes=_largest([one.pss_bytes for one in footprints]) or none,
        swap_bytes=_largest([one.swap_bytes for one in footprints]) or none,
        major_faults=_counted([turn.counters.major_faults for turn in turns]),
        minor_faults=_counted([turn.counters.minor_faults for turn in turns]),
        device_allocated_bytes=_highest([turn.device_allocated_bytes for turn in turns]) or absent,
        device_reserved_bytes=_highest([turn.device_reserved_bytes for turn in turns]) or absent,
        device_peak_bytes=_highest([turn.device_peak_bytes for turn in turns]) or absent,
    )


def lever_outcomes(spec: TrialSpec, observed: dict[str, Any]) -> list[LeverOutcome]:
    """Judge each lever by what the child saw of it; a lever no registry knows is compared as it is."""
    outcomes = []
    for name, asked in spec.levers.items():
        if spec.framework != "simulated" and name in LEVERS:
            outcomes.append(LEVERS.get(name).outcome(asked, observed))
        else:
            seen = observed.get(name)
            applied = None if name not in observed else seen == asked
            outcomes.append(LeverOutcome(name=name, asked=asked, observed=seen, applied=applied))
    return outcomes


def _turn(turn: int, message: Message, counters: Counters) -> Turn:
    device = message.get("device_memory") or {}
    return Turn(
        turn=turn,
        steps=message["steps"],
        counters=counters,
        losses=[(int(step), float(loss)) for step, loss in message.get("losses", [])],
        copied_bytes=message.get("copied_bytes", 0),
        device_allocated_bytes=device.get("allocated_bytes"),
        device_reserved_bytes=device.get("reserved_bytes"),
        device_peak_bytes=device.get("peak_bytes"),
    )


def _known_cold(parts: dict[str, float | None]) -> dict[str, float | None]:
    return {name: value for name, value in parts.items() if name in ColdStart.__struct_fields__}


def _first_step_s(events: EventLog) -> float | None:
    """Length of the first step, from the log; ``None`` when no step ended."""
    if not events.t_ns:
        return None
    total_s: np.ndarray[Any, np.dtype[np.float64]] = segment(events).total_s
    return float(total_s[0]) if len(total_s) else None


def _formula(value: float | None) -> Reading:
    return Reading(reason="no_formula") if value is None else Reading(value=float(value), method="formula")


def _largest(readings: list[Reading]) -> Reading | None:
    """The reading with the largest value; one without a value only if there is no other."""
    known = [reading for reading in readings if reading.value is not None]
    if known:
        return max(known, key=lambda reading: reading.value or 0.0)
    return readings[-1] if readings else None


def _highest(values: list[int | None]) -> Reading | None:
    known = [value for value in values if value is not None]
    return Reading(value=float(max(known)), method="measured") if known else None


def _counted(values: list[int | None]) -> Reading:
    known = [value for value in values if value is not None]
    if not known:
        return Reading(reason="not_counted" if values else "never_ran")
    return Reading(value=float(sum(known)), method="counted")
