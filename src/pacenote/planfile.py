"""Plan files: several runs written down, so that a published table can be made again with one command.

A plan is TOML. Each ``[[run]]`` takes the keys of :class:`PlannedRun`; a lever's value is a list of what to compare::

    title = "LeNet against batch size"

    [[run]]
    name = "lenet-batch"
    workload = "lenet"
    frameworks = ["pytorch", "paddle"]
    levers = { batch_size = [32, 64, 128, 256] }
    time_budget_s = 300
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec

from pacenote.errors import MissingPartError, UsageError
from pacenote.levers import LEVERS
from pacenote.plan import RunOptions
from pacenote.records import Effort, Scalar

Positive = Annotated[float, msgspec.Meta(gt=0)]
Share = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class PlannedRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run of a plan; what is left out takes the same default as on the command line."""

    workload: str
    name: str | None = None
    frameworks: list[str] = []
    devices: list[str] = []
    levers: dict[str, list[str | int | float]] = {}
    data_mode: str = "real"
    seed: int = 0
    rounds: Count = 5
    time_budget_s: Positive | None = 180.0
    within: Share | None = None
    turn_s: Positive = Effort().turn_s
    turns: Count = Effort().turns
    warmup_s: Annotated[float, msgspec.Meta(ge=0)] = Effort().warmup_s


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plan file: what it is for, and its runs in order."""

    run: list[PlannedRun]
    title: str = ""


def read(path: Path) -> list[RunOptions]:
    """Read the runs of a plan file.

    Raises:
        UsageError: If the file cannot be read or holds something that is no plan.
    """
    try:
        content = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"the plan {str(path)!r} cannot be read: {reason}.") from error
    try:
        plan = msgspec.convert(_toml(content), Plan)
    except (ValueError, msgspec.ValidationError) as error:
        raise UsageError(f"the plan {str(path)!r} is not usable: {error}.") from error
    if not plan.run:
        raise UsageError(f"the plan {str(path)!r} holds no [[run]].")
    return [_options(run) for run in plan.run]


def _toml(content: str) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        try:
            import tomli as tomllib
        except ImportError as error:
            raise MissingPartError("plan files need Python 3.11, or: pip install tomli.") from error
    return tomllib.loads(content)


def _options(run: PlannedRun) -> RunOptions:
    return RunOptions(
        workload=run.workload,
        frameworks=run.frameworks,
        devices=run.devices,
        axes={name: _values(name, values) for name, values in run.levers.items()},
        data_mode=run.data_mode,
        seed=run.seed,
        rounds=run.rounds,
        time_budget_s=run.time_budget_s,
        within=run.within,
        name=run.name,
        effort=Effort(turn_s=run.turn_s, turns=run.turns, warmup_s=run.warmup_s),
    )


def _values(name: str, values: list[str | int | float]) -> list[Scalar]:
    """Let the lever read each value as if it had been typed, so that a plan is checked like a command."""
    lever = LEVERS.get(name)
    return [lever.parse(str(value)) for value in values]
