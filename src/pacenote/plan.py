"""What is to be run: options become cells, cells become jobs, and the whole has a name that resumes it.

Pure: nothing here starts a process, reads a clock or touches the store.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pacenote import workload_index
from pacenote.errors import UsageError
from pacenote.records import Cell, Effort, Record, Scalar, TrialSpec, digest

DATA_MODES: Final = ("real", "device", "loader")

FRAMEWORK_MODULES: Final = {"pytorch": "torch", "paddle": "paddle"}
"""Framework → the module whose presence means that it is installed."""

FRAMEWORK_ALIASES: Final = {"torch": "pytorch", "paddlepaddle": "paddle"}

LABEL_FORMS: Final = {
    "batch_size": "b{}",
    "threads": "t{}",
    "loader_workers": "w{}",
    "width": "width{}",
    "depth": "depth{}",
}
"""How a lever's value reads inside a label; a lever that is not listed reads as its value when that is a word."""

START_COST_S: Final = {"pytorch": 4.0, "paddle": 5.0}
"""Import and build on two shared cores (measured: 2-4 s and 3-5 s); only used to say how long a study will take."""

FINISH_COST_S: Final = 1.0


class RunOptions(Record, frozen=True, kw_only=True):
    """Everything that ``pacenote run`` can be asked.

    Attributes:
        frameworks: Names; empty means every one that is installed.
        devices: Names; empty means every device that is present.
        axes: Lever name → values to compare; levers that are absent take their default.
        within: Stop as soon as every interval is this narrow (half width as a share), instead of after ``rounds``.
        time_budget_s: No new round starts that would end later than this.
    """

    workload: str
    frameworks: list[str] = []
    devices: list[str] = []
    axes: dict[str, list[Scalar]] = {}
    data_mode: str = "real"
    data_dir: str | None = None
    python: str | None = None
    seed: int = 0
    rounds: int = 5
    effort: Effort = Effort()
    time_budget_s: float | None = 180.0
    within: float | None = None
    force: bool = False
    resume: bool = True
    name: str | None = None
    question: str = "run"
    command: list[str] = []


class Estimate(Record, frozen=True, kw_only=True):
    """What a plan will cost: ``--dry-run`` prints this."""

    cells: int
    trials: int
    round_s: float
    total_s: float


def build_cells(
    options: RunOptions,
    *,
    frameworks: Sequence[str],
    devices: Mapping[str, Sequence[str]],
    levers: Mapping[str, Sequence[Scalar]],
) -> tuple[list[Cell], list[str]]:
    """Cross all axes.

    Args:
        options: What was asked.
        frameworks: Frameworks to run, first is the baseline.
        devices: Framework → devices to run it on.
        levers: Every lever of the workload → its values, defaults filled in.

    Returns:
        The cells, and the names of the axes that have more than one value.

    Raises:
        UsageError: If nothing is left to run or two cells would be the same.
    """
    if options.data_mode not in DATA_MODES:
        raise UsageError(f"unknown data mode {options.data_mode!r}. Known: {', '.join(DATA_MODES)}.")
    specs = [
        TrialSpec(
            workload=options.workload,
            framework=framework,
            device=device,
            data_mode=options.data_mode,
            data_dir=options.data_dir,
            python=options.python,
            seed=options.seed,
            levers=dict(zip(levers, values, strict=True)),
        )
        for framework in frameworks
        for device in devices.get(framework, ())
        for values in itertools.product(*levers.values())
    ]
    if not specs:
        raise UsageError("nothing to run: no framework and device of this machine match what was asked.")
    if len({spec.hash() for spec in specs}) < len(specs):
        raise UsageError("a value is given twice; give each value of an axis once.")
    axes = varying(specs)
    return [Cell(label=label(spec, axes), spec=spec) for spec in specs], axes


def varying(specs: Sequence[TrialSpec]) -> list[str]:
    """Names of what differs between the specs: framework, device and levers, in that order."""
    axes = [name for name in ("framework", "device") if len({getattr(spec, name) for spec in specs}) > 1]
    names = dict.fromkeys(name for spec in specs for name in spec.levers)
    return axes + [name for name in names if len({_typed(spec.levers.get(name)) for spec in specs}) > 1]


def label(spec: TrialSpec, axes: Sequence[str]) -> str:
    """Name a cell by what varies: ``pytorch b32``; a study of one cell is named by its framework."""
    parts = [str(getattr(spec, name)) for name in ("framework", "device") if name in axes]
    parts += [_lever_label(name, spec.levers.get(name)) for name in spec.levers if name in axes]
    return " ".join(parts) or spec.framework


def _lever_label(name: str, value: Scalar) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if name in LABEL_FORMS:
        return LABEL_FORMS[name].format(value)
    return value if isinstance(value, str) else f"{name}={value}"


def _typed(value: Scalar) -> tuple[str, Scalar]:
    """Tell 1 from True and "1"; 1 and 1.0 are one value."""
    kind = "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__
    return kind, value


def plan_hash(cells: Sequence[Cell], effort: Effort, question: str = "run") -> str:
    """Equal exactly for plans whose rounds may be put together; how many rounds there are is not part of it."""
    return digest([question, [cell.spec.hash() for cell in cells], effort])


def device_name(device: str, framework: str) -> str:
    """The framework's own word for a device; records always say ``cuda:0``, Paddle says ``gpu:0``."""
    return device.replace("cuda", "gpu") if framework == "paddle" else device


def common_device_name(device: str) -> str:
    """Undo :func:`device_name`."""
    return device.replace("gpu", "cuda") if device.startswith("gpu") else device


def job(spec: TrialSpec, *, action: str = "train", cache_dir: str | None = None) -> dict[str, Any]:
    """Say to a child what ``spec`` asks; see :mod:`pacenote.child.protocol`."""
    return {
        "cmd": "job",
        "action": action,
        "workload": spec.workload,
        "workload_file": workload_index.file_of(spec.workload),
        "framework": spec.framework,
        "device": device_name(spec.device, spec.framework),
        "data_mode": spec.data_mode,
        "data_dir": spec.data_dir,
        "cache_dir": cache_dir,
        "seed": spec.seed,
        "levers": dict(spec.levers),
        "planted_slowdown_ratio": spec.planted_slowdown_ratio,
        "probe": True,
        "fault": None,
    }


def measured_s(effort: Effort) -> float:
    """Seconds of training that one trial asks for."""
    return effort.warmup_s + effort.turns * effort.turn_s


def expect(cells: Sequence[Cell], effort: Effort, rounds: int) -> Estimate:
    """Estimate the cost before anything has run; two children start at a time."""
    starts = sum(START_COST_S.get(cell.spec.framework, 0.5) for cell in cells) / min(2, max(1, len(cells)))
    round_s = starts + len(cells) * measured_s(effort) + FINISH_COST_S
    return Estimate(cells=len(cells), trials=len(cells) * rounds, round_s=round_s, total_s=round_s * rounds)
