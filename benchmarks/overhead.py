"""What does measuring cost the measured?

Two answers. First the hooks alone: toggled on and off per step in one process, at least 20,000 steps, CPU time of the
training thread (benchmarks/programs/toggled_steps.py); the gate is on the upper 95 % bound of what they add. Second the
whole command: the same number of LeNet steps as plain Python and as a Pacenote study, wall time and CPU time of all
processes, in interleaved pairs; reported, with torch.profiler beside it.

    python benchmarks/overhead.py [--pairs 10000] [--command-pairs 20] [--quick]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from harness import ROOT, Benchmark, say

PROGRAMS = ROOT / "benchmarks" / "programs"
CHUNK = 2000  # pairs per process: several processes, so that one lucky memory layout does not decide
UPPER_Z = 1.96  # two-sided 95 %: stricter than the one-sided bound that the gate asks for
SHORT_STEP_LIMIT_US = 15.0
LENET_SHARE = 0.01
TRIM = 0.1
NO_TRIM = {"MALLOC_MMAP_THRESHOLD_": "33554432", "MALLOC_TRIM_THRESHOLD_": "1073741824", "MALLOC_TOP_PAD_": "67108864"}


def environment() -> dict[str, str]:
    """One thread, sleeping waits, the product's default allocator setting, this checkout's code."""
    paths = f"{ROOT / 'src'}{os.pathsep}{ROOT / 'benchmarks'}"
    return {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", **NO_TRIM}


def toggled(framework: str, model: str, pairs: int) -> dict[str, Any]:
    """One process of toggled steps, reduced to trimmed sums (microseconds)."""
    program = [sys.executable, "-W", "ignore", str(PROGRAMS / "toggled_steps.py"), framework, model, str(pairs)]
    done = subprocess.run(program, env=environment(), check=True, capture_output=True, text=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    hooked, plain = np.asarray(seen["pairs_ns"], dtype=float).T / 1e3
    added, error = trimmed(hooked - plain)
    return {
        "pairs": pairs,
        "added_us": added,
        "error_us": error,
        "plain_us": float(np.median(plain)),
        "events_per_step": seen["events_per_step"],
    }


def trimmed(values: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Mean without the outer tenths and its standard error (Yuen 1974)."""
    ordered = np.sort(values)
    cut = int(TRIM * len(ordered))
    kept = ordered[cut : len(ordered) - cut]
    clipped = np.clip(values, kept[0], kept[-1])
    return float(kept.mean()), float(clipped.std(ddof=1) / ((1 - 2 * TRIM) * np.sqrt(len(values))))


def hooks(bench: Benchmark, pairs: int) -> None:
    """The cost of the hooks per step, with its upper bound, for a short and a usual step in both frameworks."""
    for framework in ("pytorch", "paddle"):
        for model in ("short", "lenet-b32"):
            group = f"{framework} {model}"
            while sum(sample["pairs"] for sample in bench.samples(group)) < pairs:
                began = time.monotonic()
                sample = toggled(framework, model, min(CHUNK, pairs))
                bench.append(group, sample, seconds=time.monotonic() - began)
                say(f"{group}: {sample['added_us']:.2f} µs on {sample['plain_us']:.0f} µs")
            judge_hooks(bench, group, bench.samples(group), model)


def judge_hooks(bench: Benchmark, group: str, samples: list[dict[str, Any]], model: str) -> None:
    """One line per case: the bound comes from the spread between processes or within, whichever is larger."""
    added = np.array([sample["added_us"] for sample in samples])
    within = float(np.sqrt(np.mean([sample["error_us"] ** 2 for sample in samples]) / len(samples)))
    between = float(added.std(ddof=1) / np.sqrt(len(added))) if len(added) > 1 else 0.0
    upper = float(added.mean()) + UPPER_Z * max(within, between)
    step_us = float(np.median([sample["plain_us"] for sample in samples]))
    limit = SHORT_STEP_LIMIT_US if model == "short" else LENET_SHARE * step_us
    n = 2 * int(sum(sample["pairs"] for sample in samples))
    gated = model != "short" or step_us <= 300.0  # the limit is for a step of 0.25 ms
    bench.line(f"{group}: added per step", float(added.mean()), None, None, n, "µs CPU")
    bench.line(f"{group}: upper 95 % bound", upper, round(limit, 2), upper <= limit if gated else None, n, "µs CPU")
    bench.line(f"{group}: plain step", step_us, None, None, n, "µs CPU")


def command(arguments: list[str]) -> dict[str, float]:
    """Wall and CPU seconds of one command, all its descendants included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        env={**environment(), "PYTHONPATH": environment()["PYTHONPATH"]}, check=True, capture_output=True,
    )  # fmt: skip
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall_s": wall, "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def commands(bench: Benchmark, pairs: int, steps: int) -> None:
    """Whole commands in interleaved pairs, and torch.profiler in every fourth."""
    plain = [str(PROGRAMS / "plain_training.py"), "pytorch", str(steps)]
    command([*plain[:2], "2"])  # the stand-in data is made once, before anything is timed
    for number in range(bench.count("command"), pairs):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            measured = [str(PROGRAMS / "measured_training.py"), "pytorch", str(steps), f"{folder}/store.sqlite"]
            order = (plain, measured) if number % 2 else (measured, plain)
            first, second = command(order[0]), command(order[1])
        names = ("plain", "measured") if number % 2 else ("measured", "plain")
        sample: dict[str, Any] = dict(zip(names, (first, second), strict=True))
        if number % 4 == 0:
            sample["profiler"] = command([*plain, "profiler"])
        bench.append("command", sample, seconds=time.monotonic() - began)
        say(f"pair {number + 1}/{pairs}: " + ", ".join(f"{k} {v['wall_s']:.2f} s" for k, v in sample.items()))
    report_commands(bench, bench.samples("command"), steps)


def report_commands(bench: Benchmark, samples: list[dict[str, Any]], steps: int) -> None:
    """Medians of the pairwise differences, in seconds and as a share of the plain command."""
    for other in ("measured", "profiler"):
        chosen = [sample for sample in samples if other in sample]
        for name, word in (("wall_s", "wall time"), ("cpu_s", "CPU time of all processes")):
            added = np.array([sample[other][name] - sample["plain"][name] for sample in chosen])
            base = np.array([sample["plain"][name] for sample in chosen])
            title = f"whole command, {steps} steps, {'Pacenote' if other == 'measured' else 'torch.profiler'}: {word}"
            bench.line(f"{title} added", float(np.median(added)), None, None, len(chosen), "s")
            bench.line(f"{title} added, share", float(np.median(added / base)), None, None, len(chosen), "share")


def main() -> int:
    """Run what is missing and write results/overhead.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--command-pairs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--quick", action="store_true", help="few pairs: shows that the script works")
    parser.add_argument("--folder", type=Path, default=None)
    chosen = parser.parse_args()
    pairs, command_pairs = (200, 1) if chosen.quick else (chosen.pairs, chosen.command_pairs)
    bench = Benchmark("overhead", folder=chosen.folder, settings={"steps": chosen.steps})
    hooks(bench, pairs)
    commands(bench, command_pairs, 60 if chosen.quick else chosen.steps)
    return bench.write()


if __name__ == "__main__":
    raise SystemExit(main())
