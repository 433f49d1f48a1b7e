"""What a round needs from outside: the parts it works with, and the numbers every trial shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pacenote.engines import Engine
from pacenote.levers import LEVERS
from pacenote.records import Effort, Environment, Record, TrialRecord, TrialSpec
from pacenote.runner.meters import Clock, Meters
from pacenote.runner.progress import Progress, silent
from pacenote.runner.slot import Ceilings
from pacenote.system.interpreter import child_environ


class Keeper(Protocol):
    """The part of the store that the runner writes to."""

    def put_trial(self, record: TrialRecord, study_id: str | None = None) -> None:
        """Keep a record."""

    def put_environment(self, environment: Environment) -> str:
        """Keep an environment, return its hash."""
        ...


@dataclass(frozen=True)
class Parts:
    """What the runner works with; tests put scripted ones here.

    Attributes:
        engine: Starts the children.
        keeper: Keeps each record the moment it exists.
        meters: Reads the machine.
        clock: Tells the time.
        tell: Told what happens.
    """

    engine: Engine
    keeper: Keeper
    meters: Meters
    clock: Clock
    tell: Progress = silent


class Settings(Record, frozen=True, kw_only=True):
    """When to stop, and what every trial shares.

    Attributes:
        within: Half width at which to stop, as a share; rounds then only end by it or by the time budget.
    """

    rounds: int = 5
    time_budget_s: float | None = None
    within: float | None = None
    effort: Effort = Effort()
    machine_id: str = ""
    cache_dir: str | None = None


CeilingsOf = Callable[[TrialSpec], Ceilings]


def no_ceilings(spec: TrialSpec) -> Ceilings:
    """Know nothing of the machine's limits."""
    return Ceilings()


def takes_long_turn(spec: TrialSpec) -> bool:
    """Whether the cell's loader works ahead while the child rests."""
    workers = spec.levers.get("loader_workers")
    return isinstance(workers, int) and workers > 0


def variables(spec: TrialSpec) -> dict[str, str]:
    """The environment of a child: ours, and what its levers set before it starts."""
    set_by_levers: dict[str, str] = {}
    for name, value in spec.levers.items():
        if spec.framework != "simulated" and name in LEVERS:
            set_by_levers.update(LEVERS.get(name).environ(value))
    return child_environ(spec.python, set_by_levers)
