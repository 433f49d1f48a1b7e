"""The shape of a study as the report shows it: pure data, nothing concluded, nothing read from anywhere."""

from __future__ import annotations

from typing import Any, Protocol

from pacenote.depth import CopyRow, DeviceRow, OperatorRow
from pacenote.records import Finding, LeverOutcome, Reading, Record, Scalar, Severity, Status


class Summary(Protocol):
    """What the report reads of one trial's summary (:class:`pacenote.stats.TrialSummary` has more)."""

    @property
    def trial_id(self) -> str:
        """Which trial it sums up."""
        ...

    @property
    def steps(self) -> int:
        """Measured steps."""
        ...

    @property
    def dropped_steps(self) -> int:
        """Steps left out as warm-up."""
        ...

    @property
    def step_time_s(self) -> float | None:
        """The typical step."""
        ...

    @property
    def spread_share(self) -> float | None:
        """Spread of the steps over their mean."""
        ...


class Estimate(Record, frozen=True, kw_only=True):
    """A value with its interval; ``low`` and ``high`` are ``None`` when one process gives no interval."""

    value: float
    low: float | None = None
    high: float | None = None
    reason: str = ""


class TrialView(Record, frozen=True, kw_only=True):
    """One process of a cell."""

    id: str
    cell: str
    round: int
    status: Status
    steps: int = 0
    dropped_steps: int = 0
    step_time_s: float | None = None
    spread_share: float | None = None
    error_type: str | None = None
    error_text: str | None = None
    where: str | None = None
    step_ns: list[int] = []  # every step in order, warm-up included
    turn: list[int] = []  # the turn that each step ran in
    losses: list[tuple[int, float]] = []


class DepthView(Record, frozen=True, kw_only=True):
    """Some steps of one process that were recorded in depth.

    Attributes:
        steps: Steps recorded.
        failure: Why there are none.
        host_s: Time of the host in operators, per step.
        device_s: Time on devices, per step; 0 where there is none.
        operators: The most expensive operators, each with one set of shapes, per step.
        other_operators: How many more there are.
        copies: What was copied between host and device, per step.
        devices: Streams on which something ran.
        memory: Per device: allocations and bytes of all recorded steps.
    """

    steps: int = 0
    failure: str = ""
    host_s: float = 0.0
    device_s: float = 0.0
    operators: list[OperatorRow] = []
    other_operators: int = 0
    copies: list[CopyRow] = []
    devices: list[DeviceRow] = []
    memory: dict[str, dict[str, int]] = {}


class CellView(Record, frozen=True, kw_only=True):
    """One condition and everything known about it."""

    label: str
    framework: str
    device: str
    data_mode: str
    levers: dict[str, Scalar]
    rounds: int = 0
    steps: int = 0
    step_time: Estimate | None = None
    throughput: Estimate | None = None
    phases: dict[str, float] = {}  # shares of the mean step
    dominant_phase: str | None = None
    achieved_flops: Reading = Reading(reason="not_recorded")
    ceiling_flops: Reading = Reading(reason="not_recorded")
    mfu_share: Reading = Reading(reason="not_recorded")
    memory: dict[str, Reading] = {}
    sensors: dict[str, Reading] = {}
    cold_start: dict[str, float | None] = {}
    lever_outcomes: list[LeverOutcome] = []
    copied_bytes_per_step: float | None = None
    framework_facts: dict[str, Any] = {}
    data: dict[str, Any] = {}
    depth: DepthView | None = None
    findings: list[Finding] = []

    @property
    def unhealthy(self) -> bool:
        """Whether no ratio may be printed from this cell."""
        return any(finding.severity is Severity.UNHEALTHY for finding in self.findings)

    @property
    def measured(self) -> bool:
        """Whether at least one process finished."""
        return self.step_time is not None


class StudyView(Record, frozen=True, kw_only=True):
    """A whole study, ready to be shown."""

    id: str
    name: str | None
    question: str
    created_unix_s: float
    finished: bool
    workload: str
    axes: list[str]
    baseline: str | None
    cells: list[CellView]
    trials: list[TrialView]
    findings: list[Finding]  # all, in the order the rules gave them
    environment: dict[str, Any]
    command: list[str]
    options: dict[str, Any]
    machine_id: str
    version: str
    rules_version: int

    def found(self, *codes: str) -> list[Finding]:
        """Findings with one of ``codes``, in order."""
        return [finding for finding in self.findings if finding.code in codes]

    def cell(self, label: str) -> CellView | None:
        """The cell called ``label``."""
        return next((cell for cell in self.cells if cell.label == label), None)
