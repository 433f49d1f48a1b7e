"""The intervals keep their promise: the same thing against itself, again and again, and known slow-downs beside it.

``python benchmarks/repeat.py [--condition quiet|noisy|planted] [--repeats 60] [--framework pytorch] [--fresh]``. One
repeat is one whole study of LeNet at batch 32, with fresh processes and a store of its own, as ``pacenote run`` makes
it; an A/A plan takes at most 20 s. ``quiet`` and ``noisy`` compare a condition with itself, ``noisy`` beside a process
that loads one CPU at random; ``planted`` compares it with itself slowed down by 1.03, 1.10 and 1.50. Every repeat is
appended to ``results/repeat.jsonl`` at once, and the benchmark goes on where it was interrupted. Three times sixty
repeats take about 75 minutes.

A ratio from a disturbed side is refused by the product and forced here: the interval must hold even then. How many
were refused is reported beside it.

A virtual machine shares its cores with others whom it cannot see: no steal is counted while a neighbour runs on the
other half of a core, and everything takes a third longer. Right before and right after each repeat a fixed piece of
work is therefore timed on each CPU (``slow_share``); what was seen is reported beside the widths, and leaves none out.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import ROOT, Benchmark, say

sys.path.insert(0, str(ROOT / "src"))

import msgspec

from pacenote.experiments import selftest, sweep
from pacenote.plan import RunOptions, expect
from pacenote.records import Effort, Finding, Study
from pacenote.runner.progress import silent
from pacenote.store import Store

CONDITIONS = ("quiet", "noisy", "planted")
PLANTED = (1.03, 1.10, 1.50)

EFFORT = Effort(warmup_s=0.1, turn_s=0.15, turns=6)
ROUNDS = 4
BUDGET_S, MARGIN_S = 20.0, 0.5
"""Four rounds of two cells take 17 to 18 s on two quiet cores: 2.5 s to start two processes, 2 s to measure both. No
round starts that would end later."""

COVERAGE, HALF_WIDTH = 0.90, 0.05

LOOK_S, SLOW = 1.0, 1.15
"""How long is looked, and from when on a piece of work took longer than it needs to: the slowest tenth on a calm
machine took 7 % longer than the fastest, beside somebody on the other half of the core all take 30 to 40 % longer."""

SOURCES = tuple(
    f"src/pacenote/{part}"
    for part in (
        "child",
        "engines",
        "launchers",
        "runner",
        "stats",
        "findings/cells.py",
        "findings/comparison.py",
        "findings/evidence.py",
        "findings/health",
        "findings/judge.py",
        "findings/readings.py",
        "levers/__init__.py",
        "levers/batch_size.py",
        "segment.py",
        "plan.py",
    )
)
"""What measures and judges a built-in workload at two equal conditions; words, pages and what is said of scripts may
change without making a repeat invalid."""

NEIGHBOUR = """
import random, sys, time
random.seed(int(sys.argv[1]))
while True:
    until = time.perf_counter() + random.uniform(0.1, 1.0)
    while time.perf_counter() < until:
        sum(range(1000))
    time.sleep(random.uniform(0.1, 1.0))
"""


def main() -> int:
    """Run the repeats that are not yet done and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--condition", choices=CONDITIONS, action="append", help="default: all three, in turn")
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--framework", choices=("pytorch", "paddle"), default="pytorch")
    parser.add_argument("--fresh", action="store_true", help="do not resume")
    options = parser.parse_args()
    settings = {"framework": options.framework, "rounds": ROUNDS, "effort": msgspec.to_builtins(EFFORT)}
    bench = Benchmark("repeat", settings=settings, sources=SOURCES)
    if options.fresh:
        bench.forget()
    wanted = options.condition or CONDITIONS
    for number in range(options.repeats):
        for condition in wanted:  # taken in turn, so that each sees the same hours of the machine
            if bench.count(condition) <= number:
                repeat(bench, condition, number, options.framework)
    summarise(bench, options.repeats)
    return bench.write()


def slow_share() -> float:
    """Share of a second's pieces of work, half of it on each CPU, that took longer than they need to."""
    slow = pieces = 0
    allowed = os.sched_getaffinity(0)
    try:
        for cpu in sorted(allowed):
            os.sched_setaffinity(0, {cpu})
            took, until = [], time.perf_counter() + LOOK_S / len(allowed)
            while (began := time.perf_counter()) < until:
                sum(range(30_000))
                took.append(time.perf_counter() - began)
            least = sorted(took)[len(took) // 10]
            slow += sum(one > SLOW * least for one in took)
            pieces += len(took)
    finally:
        os.sched_setaffinity(0, allowed)
    return slow / pieces


def repeat(bench: Benchmark, condition: str, number: int, framework: str) -> None:
    """Make one study and keep what it said."""
    before = slow_share()
    began_s = time.monotonic()
    with noise(number) if condition == "noisy" else contextlib.nullcontext():
        study = measure(framework, PLANTED if condition == "planted" else ())
    took_s = time.monotonic() - began_s
    ratios = [told for finding in study.findings if (told := ratio(study, finding)) is not None]
    slow = [round(before, 4), round(slow_share(), 4)]
    sample = {"repeat": number, "rounds": study.options["rounds_done"], "ratios": ratios, "slow_shares": slow}
    bench.append(condition, sample, seconds=round(took_s, 2))
    shown = ", ".join(f"{one['planted']:g}: {one['low']:.3f}-{one['high']:.3f}" for one in ratios if one["low"])
    told = f"{took_s:.1f} s, {sample['rounds']} rounds, slow {slow}"
    say(f"  {condition} {number + 1}: {shown or 'no interval'} ({told})")


def measure(framework: str, planted: tuple[float, ...]) -> Study:
    """Run one study: one equal of the baseline, or the planted slow-downs."""
    budget_s = (BUDGET_S - MARGIN_S) * (1 + len(planted)) / 2 if planted else BUDGET_S - MARGIN_S
    options = RunOptions(
        workload="lenet",
        frameworks=[framework],
        devices=["cpu"],
        axes={"batch_size": [32]},
        rounds=ROUNDS,
        time_budget_s=budget_s,
        effort=EFFORT,
        force=True,
        command=["benchmarks/repeat.py"],
    )
    with (
        tempfile.TemporaryDirectory(prefix="pacenote-repeat-") as folder,
        Store(Path(folder) / "store.sqlite") as store,
    ):
        work = sweep.make_work(store, silent)
        one = sweep.prepare(options, work.machine)
        cells = selftest.cells_of(options, one, planted, controls=0 if planted else 1)
        prepared = sweep.Prepared(cells=cells, axes=["planted_slowdown_ratio"], estimate=expect(cells, EFFORT, ROUNDS))
        return sweep.run_cells(options, prepared, work, calibrate=False)


def ratio(study: Study, finding: Finding) -> dict[str, Any] | None:
    """What a finding says of a ratio, as time over the baseline's time; ``None`` for other findings."""
    if finding.code not in ("ratio", "ratio_forced"):
        return None
    cell = next(one for one in study.cells if one.label == finding.params["cell"])
    planted, params = cell.spec.planted_slowdown_ratio, finding.params
    low, high = (None if params[end] is None else 1.0 / params[end] for end in ("high", "low"))
    return {
        "planted": planted,
        "value": 1.0 / params["speedup"],
        "low": low,
        "high": high,
        "covered": None if low is None or high is None else low <= planted <= high,
        "half_width": None if low is None or high is None else (high - low) / 2.0 * params["speedup"],
        "refused": params.get("reasons", []) if finding.code == "ratio_forced" else [],
    }


@contextlib.contextmanager
def noise(seed: int) -> Iterator[None]:
    """A neighbour that takes one CPU for random stretches, about half of the time."""
    with subprocess.Popen([sys.executable, "-c", NEIGHBOUR, str(seed)]) as neighbour:
        try:
            yield
        finally:
            neighbour.kill()


def summarise(bench: Benchmark, repeats: int) -> None:
    """Turn the samples into lines, one set per condition that has any."""
    for condition in CONDITIONS:
        samples = bench.samples(condition)
        if not samples:
            continue
        told_each = max(1, len(samples[0]["ratios"]))  # a planted study tells three ratios at once
        enough = len(samples) * told_each >= min(repeats, 60)
        took_s = [sample["seconds"] for sample in samples]
        if condition == "quiet":
            longest = max(took_s)
            bench.line("quiet: longest plan", longest, "<= 20", longest <= BUDGET_S, len(samples), "s")
        slow = statistics.median(share for sample in samples for share in sample["slow_shares"])
        bench.line(f"{condition}: median share of slowed work beside it", slow, None, None, 2 * len(samples), "share")
        for planted in sorted({one["planted"] for sample in samples for one in sample["ratios"]}):
            told = [one for sample in samples for one in sample["ratios"] if one["planted"] == planted]
            _lines(bench, condition if planted == 1.0 else f"{condition} {planted:.2f}", told, enough=enough)


def _lines(bench: Benchmark, name: str, told: list[dict[str, Any]], *, enough: bool) -> None:
    """Coverage, width and refusals of one comparison; a sample that is too small passes nothing."""
    known = [one for one in told if one["covered"] is not None]
    covered = sum(one["covered"] for one in known) / len(known) if known else 0.0
    half = statistics.median(one["half_width"] for one in known) if known else float("nan")
    refused = sum(bool(one["refused"]) for one in told)
    coverage_ok = covered >= COVERAGE and len(known) == len(told)
    bench.line(f"{name}: coverage", covered, f">= {COVERAGE}", coverage_ok and enough, len(known), "share")
    wide_ok = half <= HALF_WIDTH if name == "quiet" else None
    threshold = f"<= {HALF_WIDTH}" if name == "quiet" else None
    bench.line(f"{name}: median half-width", half, threshold, wide_ok, len(known), "share")
    bench.line(f"{name}: median ratio", statistics.median(one["value"] for one in told), None, None, len(told))
    bench.line(f"{name}: ratios the product refused", refused, None, None, len(told))


if __name__ == "__main__":
    raise SystemExit(main())
