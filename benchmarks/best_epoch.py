"""LeNet, one epoch of 50,000 images: the tutorial's pipeline against combinations of levers, at the same batch size.

Each process trains one whole epoch after its warm-up; conditions alternate over rounds of fresh processes. The goal is
a speed-up of at least 3 for the best combination.

    python benchmarks/best_epoch.py [--batch 256] [--rounds 5]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from harness import Benchmark, say

from pacenote import stats
from pacenote.experiments import sweep
from pacenote.plan import RunOptions
from pacenote.records import Cell, Effort, Severity
from pacenote.runner import progress
from pacenote.store import Store

GOAL = 3.0
ITEMS = 50_000
COMBINATIONS: dict[str, dict[str, Any]] = {
    "tutorial": {},
    "tutorial 2 workers": {"loader_workers": 2},
    "batched": {"pipeline": "batched"},
    "batched channels_last": {"pipeline": "batched", "memory_format": "channels_last"},
    "batched channels_last bf16": {"pipeline": "batched", "memory_format": "channels_last", "dtype": "bf16"},
    "batched channels_last bf16 1 thread": {
        "pipeline": "batched", "memory_format": "channels_last", "dtype": "bf16", "threads": 1,
    },
}  # fmt: skip


def main() -> int:
    """Run the study and write results/best_epoch.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--framework", default="pytorch")
    parser.add_argument("--store", type=Path, default=Path(tempfile.gettempdir()) / "pacenote-best-epoch.sqlite")
    parser.add_argument("--folder", type=Path, default=None)
    chosen = parser.parse_args()
    bench = Benchmark(
        "best_epoch", folder=chosen.folder, settings={"batch": chosen.batch, "framework": chosen.framework}
    )
    options = RunOptions(
        workload="lenet",
        frameworks=[chosen.framework],
        devices=["cpu"],
        axes={"batch_size": [chosen.batch]},
        rounds=chosen.rounds,
        effort=Effort(warmup_s=0.5, turns=1, max_steps=ITEMS // chosen.batch),
        time_budget_s=None,
        name="best-epoch",
    )
    with Store(chosen.store) as store:
        work = sweep.make_work(store, progress.silent)
        prepared = sweep.prepare(options, work.machine)
        plain = prepared.cells[0].spec
        cells = [
            Cell(label=label, spec=msgspec.structs.replace(plain, levers={**plain.levers, **levers}))
            for label, levers in COMBINATIONS.items()
        ]
        axes = ["loader_workers", "pipeline", "memory_format", "dtype", "threads"]
        study = sweep.run_cells(
            options, msgspec.structs.replace(prepared, cells=cells, axes=axes), work, calibrate=False
        )
        summaries = [(record.spec, stats.summarize(record)) for record in store.trials(study.id)]
    best = 0.0
    tutorial = [one for spec, one in summaries if spec == cells[0].spec]
    for cell in cells:
        own = [one for spec, one in summaries if spec == cell.spec]
        unhealthy = sorted(
            {f.code for f in study.findings if f.subject == cell.label and f.severity is Severity.UNHEALTHY}
        )
        epoch = stats.cell_interval(own)
        steps = ITEMS / chosen.batch
        note = f"s{', unhealthy: ' + ', '.join(unhealthy) if unhealthy else ''}"
        bench.line(f"{cell.label}: epoch", epoch.value and epoch.value * steps, None, None, len(own), note)
        if cell is not cells[0]:
            ratio = stats.ratio_interval(tutorial, own)
            bench.line(f"{cell.label}: speed-up", ratio.value, None, None, len(own), f"× [{ratio.low}, {ratio.high}]")
            best = max(best, ratio.value or 0.0)
    bench.line("goal: best speed-up of a LeNet epoch at equal batch", best, GOAL, best >= GOAL, chosen.rounds, "×")
    say(f"store: {chosen.store}")
    return bench.write()


if __name__ == "__main__":
    raise SystemExit(main())
