"""The stored values: what was asked, what came out, and what was concluded.

All are frozen. ``TrialSpec`` is the question to one child process, ``TrialRecord`` its whole answer, ``Study``
a question over several trials with its findings. Numbers carry their unit in the name. A value that could not
be measured is ``None`` with a reason, held in a :class:`Reading`.
"""

from __future__ import annotations

import enum
import hashlib
import os
import time
from typing import Any, Final

import msgspec

SCHEMA_VERSION: Final = 1
"""Version of the stored form. History: 1 = first."""

Scalar = str | int | float | bool | None
Params = dict[str, Any]


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """Base of every stored value: frozen, keyword-only."""


class Kind(str, enum.Enum):
    """Where a record's numbers come from."""

    MEASURED = "measured"
    SIMULATED = "simulated"
    IMPORTED = "imported"


class Status(str, enum.Enum):
    """How a trial ended. Only ``FINISHED`` enters a comparison."""

    FINISHED = "finished"
    OUT_OF_MEMORY = "out_of_memory"
    KILLED = "killed"
    HUNG = "hung"
    CRASHED = "crashed"
    INTERRUPTED = "interrupted"
    MISSING = "missing"  # framework or device is not there
    UNSUPPORTED = "unsupported"  # the framework cannot do what was asked


class Reading(Record, frozen=True, kw_only=True):
    """One quantity that may not be measurable here.

    Attributes:
        value: The number in the unit of the field's name, or ``None``.
        method: ``"measured"``, ``"counted"``, ``"formula"`` when there is a value, else ``"none"``.
        reason: Why there is no value, as a reason code (locale key ``reason.<code>``); empty when there is one.
    """

    value: float | None = None
    method: str = "none"
    reason: str = ""


class TrialSpec(Record, frozen=True, kw_only=True):
    """What one child process is asked to do; equal specs are replicates of each other."""

    workload: str
    framework: str
    device: str = "cpu"
    data_mode: str = "real"
    data_dir: str | None = None
    python: str | None = None
    seed: int = 0
    levers: dict[str, Scalar] = {}
    planted_slowdown_ratio: float = 1.0

    def hash(self) -> str:
        """Sixteen hex digits that are equal exactly for equal specs."""
        return digest(self)


class Effort(Record, frozen=True, kw_only=True):
    """How long a trial measures; not part of its identity."""

    warmup_s: float = 0.5
    turn_s: float = 0.1
    turns: int = 12
    max_steps: int | None = None
    timeout_s: float = 120.0


class Environment(Record, frozen=True, kw_only=True):
    """Fingerprint of machine, interpreter and framework; stored once per hash.

    ``facts`` holds the keys listed in :mod:`pacenote.environment` with JSON values. It never holds an environment
    variable or argument outside the allow-list there.
    """

    facts: dict[str, Any]

    def hash(self) -> str:
        """Sixteen hex digits that are equal exactly for equal environments."""
        return digest(self)


class Counters(Record, frozen=True, kw_only=True):
    """What changed on the machine while one turn ran (differences, the child included unless said)."""

    wall_s: float
    child_cpu_s: float
    machine_busy_s: float | None = None  # CPU seconds of all processes, from /proc/stat
    other_cpu_s: float | None = None  # machine_busy_s minus the measured child and our own processes
    steal_s: float | None = None
    pressure_cpu_s: float | None = None  # PSI "some": seconds in which a runnable task waited
    throttled_s: float | None = None  # cgroup CPU quota
    throttled_count: int | None = None
    swapped_in_bytes: float | None = None
    swapped_out_bytes: float | None = None
    minor_faults: int | None = None
    major_faults: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    thermal_throttle_count: int | None = None  # times the hardware slowed a core down for heat


class Turn(Record, frozen=True, kw_only=True):
    """One slice of measured time of one child, between two pauses.

    ``turn`` 0 is the warm-up. Turns with the same number in records of the same round ran right after each other,
    so their ratio is free of slow drift of the machine.
    """

    turn: int
    steps: int
    counters: Counters
    losses: list[tuple[int, float]] = []
    copied_bytes: int = 0
    device_allocated_bytes: int | None = None
    device_reserved_bytes: int | None = None
    device_peak_bytes: int | None = None


class Memory(Record, frozen=True, kw_only=True):
    """Host and device memory of one trial."""

    rss_peak_bytes: Reading = Reading()
    pss_bytes: Reading = Reading()  # largest of the readings taken while the child was paused, workers included
    swap_bytes: Reading = Reading()
    major_faults: Reading = Reading()
    minor_faults: Reading = Reading()
    device_allocated_bytes: Reading = Reading()
    device_reserved_bytes: Reading = Reading()
    device_peak_bytes: Reading = Reading()


class Sensors(Record, frozen=True, kw_only=True):
    """What the sensors saw during the measured turns."""

    cpu_energy_j: Reading = Reading()
    dram_energy_j: Reading = Reading()
    device_energy_j: Reading = Reading()
    device_power_w: Reading = Reading()
    device_utilisation_share: Reading = Reading()
    device_clock_hz: Reading = Reading()
    device_temperature_c: Reading = Reading()
    cpu_clock_hz: Reading = Reading()
    cpu_temperature_c: Reading = Reading()


class ColdStart(Record, frozen=True, kw_only=True):
    """Time before the first steady step, each part on its own."""

    process_s: float | None = None  # spawn to the child's first line
    import_s: float | None = None
    device_init_s: float | None = None
    build_s: float | None = None
    data_s: float | None = None
    first_step_s: float | None = None


class LeverOutcome(Record, frozen=True, kw_only=True):
    """Whether a lever was seen to have taken effect."""

    name: str
    asked: Scalar
    observed: Scalar = None
    applied: bool | None = None  # None: could not be observed
    reason: str = ""


class Outcome(Record, frozen=True, kw_only=True):
    """How the child process ended."""

    status: Status
    exit_code: int | None = None
    signal: str | None = None
    error_type: str | None = None
    error_text: str | None = None
    where: str | None = None


class EventLog(Record, frozen=True, kw_only=True):
    """The raw event log of one rank; see :mod:`pacenote.child.events` for the code.

    Attributes:
        t_ns: int64 little-endian bytes, time of each event.
        code: int64 little-endian bytes, code of each event.
        objects: What each object index stands for: ``{"kind": "loader", "name": "DataLoader", ...}``.
    """

    t_ns: bytes = b""
    code: bytes = b""
    objects: list[dict[str, Any]] = []


class Depth(Record, frozen=True, kw_only=True):
    """A few steps recorded in depth; read with :mod:`pacenote.depth`.

    The five series are zlib of int64 little-endian, one entry per call.

    Attributes:
        steps: Steps recorded; 0 when it failed.
        failure: Why it failed.
        objects: Distinct things called: ``{"kind": "op" | "runtime" | "kernel" | "copy", "name": ..., "shapes": ...}``.
        tracks: What calls ran on: ``{"kind": "thread" | "device", "name": ...}``.
        memory: Per device: allocations, allocated_bytes, rise_bytes (largest amount above that at the start).
        left_out: Calls beyond the number that is kept.
        began_ns: When each call began, on the clock of the event log.
        lasted_ns: How long it took.
        what: Index of its object.
        where: Index of its track.
        cause: Index of the call that launched it; -1 for calls of the host.
    """

    steps: int = 0
    failure: str = ""
    objects: list[dict[str, Any]] = []
    tracks: list[dict[str, Any]] = []
    memory: dict[str, dict[str, int]] = {}
    left_out: int = 0
    began_ns: bytes = b""
    lasted_ns: bytes = b""
    what: bytes = b""
    where: bytes = b""
    cause: bytes = b""


class TrialRecord(Record, frozen=True, kw_only=True):
    """Everything one child process did."""

    id: str
    spec: TrialSpec
    spec_hash: str
    environment_hash: str
    machine_id: str
    replicate: int
    round: int = 0  # trials of one round ran interleaved with each other
    parent_id: str | None = None
    rank: int = 0
    world_size: int = 1
    kind: Kind = Kind.MEASURED
    version: str
    schema: int = SCHEMA_VERSION
    started_unix_s: float
    effort: Effort
    outcome: Outcome
    cold_start: ColdStart = ColdStart()
    turns: list[Turn] = []
    events: EventLog = EventLog()
    memory: Memory = Memory()
    sensors: Sensors = Sensors()
    levers: list[LeverOutcome] = []
    framework: dict[str, Any] = {}  # name, version, build facts, debug flags as the child saw them
    data: dict[str, Any] = {}  # {"source": "cifar10-binary" | "stand-in", "items": 50000, ...}
    before: dict[str, Any] = {}  # machine state right before the child started: see pacenote.system.snapshot
    samples_per_step: int | None = None
    flop_per_sample: Reading = Reading()
    ceiling_flops: Reading = Reading()  # GEMM ceiling measured on this device and dtype, FLOP/s
    ceiling_bytes_per_s: Reading = Reading()
    depth: Depth | None = None


class Severity(str, enum.Enum):
    """What a finding means for the numbers it is about."""

    INFO = "info"
    WARNING = "warning"
    UNHEALTHY = "unhealthy"  # no ratio may be printed from this side


class Finding(Record, frozen=True, kw_only=True):
    """A conclusion: a code and its parameters, never a sentence.

    Attributes:
        code: Locale key ``finding.<code>``; codes are listed in docs/findings.md.
        severity: What it means for the numbers.
        subject: The cell (or cells, ``"a/b"``) it is about; empty for the whole study.
        params: Values for the sentence; numbers in the unit of their name.
    """

    code: str
    severity: Severity = Severity.INFO
    subject: str = ""
    params: Params = {}


class Cell(Record, frozen=True, kw_only=True):
    """One condition of a study: a short label and the spec all its trials share."""

    label: str
    spec: TrialSpec


class Study(Record, frozen=True, kw_only=True):
    """A question, the trials made for it, and its findings."""

    id: str
    question: str  # "run", "compare", "selftest"
    name: str | None = None
    created_unix_s: float
    finished: bool = False
    command: list[str] = []  # redacted
    cells: list[Cell] = []
    axes: list[str] = []  # names of what varies between cells
    baseline: str | None = None  # label of the cell others are compared with
    trial_ids: list[str] = []
    findings: list[Finding] = []
    rules_version: int = 1
    environment_hash: str = ""
    machine_id: str = ""
    plan_hash: str = ""  # equal for equal questions: the key under which an unfinished study resumes
    options: dict[str, Any] = {}
    version: str = ""
    schema: int = SCHEMA_VERSION


def digest(value: Any) -> str:
    """Hash any record by its canonical JSON (sorted keys)."""
    text = msgspec.json.encode(value, order="sorted")
    return hashlib.sha256(text).hexdigest()[:16]


def new_id(now_unix_s: float | None = None) -> str:
    """Make a unique id that sorts by time: 12 hex digits of milliseconds, then 8 random ones."""
    moment = time.time() if now_unix_s is None else now_unix_s
    return f"{int(moment * 1000):012x}{os.urandom(4).hex()}"
