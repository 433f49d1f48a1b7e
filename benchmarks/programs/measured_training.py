"""The same number of LeNet steps as a Pacenote study of one process: ``measured_training.py FRAMEWORK STEPS STORE``."""

from __future__ import annotations

import sys

from pacenote.experiments import sweep
from pacenote.plan import RunOptions
from pacenote.records import Effort
from pacenote.runner import progress
from pacenote.store import Store

WARMUP_S = 0.001  # one step


def main() -> None:
    """Run the study; everything that a user's run starts is started, but for the calibration of the machine."""
    framework, steps, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    options = RunOptions(
        workload="lenet",
        frameworks=[framework],
        devices=["cpu"],
        axes={"batch_size": [32], "threads": [1]},
        rounds=1,
        effort=Effort(warmup_s=WARMUP_S, turns=6, max_steps=steps - 1),
        resume=False,
        time_budget_s=None,
    )
    work = sweep.make_work(Store(path), progress.silent)
    sweep.run_cells(options, sweep.prepare(options, work.machine), work, calibrate=False)


if __name__ == "__main__":
    main()
