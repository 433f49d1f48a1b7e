"""Find out what this machine can show: the same thing measured against itself, and against a known slow-down.

The cells do equal work. The second differs from the first only in its seed (A/A); each further one spins after every
step until the step has lasted a known number of times as long. All take turns as in any other study, so what is found
holds for those.
"""

from __future__ import annotations

from typing import Final

import msgspec

from pacenote import plan
from pacenote.engines import Engine
from pacenote.errors import UsageError
from pacenote.experiments import sweep
from pacenote.plan import RunOptions
from pacenote.records import Cell, Effort, Study
from pacenote.runner import progress
from pacenote.store import Store

WORKLOAD: Final = "lenet"
BATCH_SIZE: Final = 32
PLANTED: Final = (1.03, 1.10)
"""One slow-down at the edge of what a quiet machine shows, and one that must be seen."""

MIN_ROUNDS: Final = 3


def cells_of(
    options: RunOptions, prepared: sweep.Prepared, planted: tuple[float, ...] = PLANTED, controls: int = 1
) -> list[Cell]:
    """Make the cells: the baseline, ``controls`` equals of it, and one per planted slow-down.

    Raises:
        UsageError: If the options name more than one condition.
    """
    if len(prepared.cells) != 1:
        raise UsageError("a self-test measures one condition against itself; name one framework and one device.")
    spec = prepared.cells[0].spec
    cells = [Cell(label="A", spec=spec)]
    for number in range(1, controls + 1):
        same = msgspec.structs.replace(spec, seed=options.seed + number)
        cells.append(Cell(label=f"A{number + 1}", spec=same))
    for ratio in planted:
        slower = msgspec.structs.replace(spec, planted_slowdown_ratio=ratio)
        cells.append(Cell(label=f"A×{ratio:.2f}", spec=slower))
    return cells


def run(
    store: Store,
    watcher: progress.Progress = progress.silent,
    *,
    framework: str | None = None,
    python: str | None = None,
    time_budget_s: float | None = 120.0,
    planted: tuple[float, ...] = PLANTED,
    controls: int = 1,
    rounds: int | None = None,
    effort: Effort | None = None,
    resume: bool = True,
    engine: Engine | None = None,
) -> Study:
    """Run a self-test; see :func:`pacenote.experiments.sweep.run` for what it raises.

    Args:
        store: Keeps everything.
        watcher: Told what happens.
        framework: Framework to use; the first installed by default.
        python: Interpreter to measure.
        time_budget_s: How long it may take.
        planted: Slow-downs to look for.
        controls: How many cells equal the baseline.
        rounds: Rounds; as many as fit the time by default.
        effort: How long each trial measures.
        resume: Whether an interrupted self-test goes on.
        engine: Where children run; this machine by default.
    """
    options = RunOptions(
        workload=WORKLOAD,
        frameworks=[] if framework is None else [framework],
        devices=["cpu"],
        axes={} if framework == "simulated" else {"batch_size": [BATCH_SIZE]},
        python=python,
        question="selftest",
        time_budget_s=time_budget_s,
        effort=effort or Effort(),
        resume=resume,
    )
    work = sweep.make_work(store, watcher, engine)
    prepared = sweep.prepare(options, work.machine)
    first = prepared.cells[:1]
    cells = cells_of(options, msgspec.structs.replace(prepared, cells=first), planted, controls)
    wanted = rounds or _fitting(cells, options)
    options = msgspec.structs.replace(options, rounds=wanted)
    ready = sweep.Prepared(
        cells=cells, axes=["planted_slowdown_ratio"], estimate=plan.expect(cells, options.effort, wanted)
    )
    return sweep.run_cells(options, ready, work, calibrate=False)


def _fitting(cells: list[Cell], options: RunOptions) -> int:
    """Rounds that fit the time budget by the usual estimate; the budget itself ends the study if it was wrong."""
    if options.time_budget_s is None:
        return options.rounds
    return max(MIN_ROUNDS, int(options.time_budget_s / plan.expect(cells, options.effort, 1).round_s))
