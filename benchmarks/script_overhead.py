"""What do the hooks cost in scripts of others? Toggled on and off per step, as benchmarks/overhead.py does.

Three public scripts run under ``pacenote run`` with their hooks on in one step and off in the next, in random order of
each pair; CPU time of the training thread. Gate: the upper 95 % bound of what hooks add is at most 1 % of the step, or
15 µs where that is more.

    python benchmarks/script_overhead.py --repositories DIR [--pytorch PYTHON] [--paddle PYTHON] [--steps 20000]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from harness import Benchmark, say
from script_cases import CASES, Case
from scripts import PACENOTE, PROGRAMS, Trial

SHARE = 0.01
FLOOR_US = 15.0
TRIM = 0.1
QUANTILE = 1.645  # one-sided 95 %

LONGER: dict[str, Case] = {}
"""Three of the cases, with enough steps."""

for _case in CASES:
    if _case.name == "mnist":
        LONGER[_case.name] = replace(
            _case, arguments=("--epochs", "9", "--batch-size", "16"), stand_ins=(("mnist_whole", "data"),)
        )
    elif _case.name == "nanogpt":
        _smaller = ("--max_iters=1000000", "--eval_interval=1000000", "--gradient_accumulation_steps=1",
                    "--n_layer=1", "--n_embd=32", "--block_size=32", "--batch_size=4",
                    "--log_interval=1000")  # fmt: skip
        LONGER[_case.name] = replace(_case, arguments=(*_case.arguments, *_smaller))
    elif _case.name == "paddlerec mmoe":
        LONGER[_case.name] = replace(
            _case, arguments=(*_case.arguments[:-1], "runner.epochs=1000000", "runner.print_interval=1000")
        )


def main() -> int:
    """Run what is missing and write results/script_overhead.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--pytorch", default=sys.executable)
    parser.add_argument("--paddle", default=sys.executable)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, default=None)
    chosen = parser.parse_args()
    bench = Benchmark("script_overhead", folder=chosen.folder, settings={"steps": chosen.steps})
    for name, case in LONGER.items():
        if not bench.count(name):
            say(name)
            began = time.monotonic()
            python = chosen.pytorch if case.framework == "pytorch" else chosen.paddle
            pairs = toggled(Trial(case, chosen.repositories, python, None), chosen.steps)
            bench.append(name, {"pairs_ns": pairs}, seconds=time.monotonic() - began)
        judge(bench, name, np.array(bench.samples(name)[-1]["pairs_ns"], dtype=float))
    return bench.write()


def toggled(trial: Trial, steps: int) -> list[list[int]]:
    """CPU time of steps with and without hooks, in pairs (ns).

    Raises:
        RuntimeError: If the script made no steps.
    """
    target, arguments = trial.target()
    seen = trial.place / "toggled.json"
    more = {"TOGGLER_FILE": str(seen), "TOGGLER_STEPS": str(steps)}
    try:
        trial.make_stand_ins()
        command = [*PACENOTE, "run", "--quiet", "--no-operators", "--python", trial.python, *target, "--", *arguments]
        done = trial.run("toggled", command, program=PROGRAMS / "toggler", more=more, threads="1")
        if not seen.exists():
            raise RuntimeError(f"{trial.case.name}: no steps were timed\n{done['out'][-500:]}\n{done['err'][-2000:]}")
        times = json.loads(seen.read_text(encoding="utf-8"))
    finally:
        trial.close()
    pairs = []
    for first, second in zip(times[::2], times[1::2], strict=False):
        by = {bool(hooked): lasted_ns for hooked, lasted_ns in (first, second)}
        if len(by) == 2:
            pairs.append([by[True], by[False]])
    return pairs


def judge(bench: Benchmark, name: str, pairs: np.ndarray) -> None:  # type: ignore[type-arg]
    """One line: the upper bound of what hooks add."""
    step_us = float(np.median(pairs[:, 1])) / 1e3
    added = np.sort(pairs[:, 0] - pairs[:, 1]) / 1e3
    cut = int(TRIM * len(added))
    kept = added[cut : len(added) - cut]
    spread = np.clip(added, kept[0], kept[-1]).std(ddof=1) / ((1 - 2 * TRIM) * np.sqrt(len(added)))
    upper, allowed = float(kept.mean() + QUANTILE * spread), max(SHARE * step_us, FLOOR_US)
    bench.line(f"{name}: step without hooks", step_us, None, None, len(pairs), "µs")
    bench.line(f"{name}: added, mean", float(kept.mean()), None, None, len(pairs), "µs")
    bench.line(f"{name}: added, upper 95 % bound", upper, round(allowed, 2), upper <= allowed, len(pairs), "µs")


if __name__ == "__main__":
    raise SystemExit(main())
