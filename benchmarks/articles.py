"""Articles 1 and 2 on this machine: run the plans, and keep the figures that stand beside the articles' own.

Runs ``pacenote run --plan plans/article1.toml`` and ``…/article2.toml`` (an interrupted plan goes on where it stopped)
and reduces the stored studies. docs/make_articles.py writes the tables of docs and README from the result.

    python benchmarks/articles.py [--store FILE]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness import ROOT, Benchmark, say

from pacenote import stats
from pacenote.records import Severity, Study, TrialRecord
from pacenote.store import Store

PLANS = ("article1", "article2")
EPOCH_ITEMS = 50_000
STEPS = 100


def run_plans(store: Path) -> None:
    """Run both plans through the command line, as a reader would."""
    environment = {**os.environ, "PACENOTE_STORE": str(store), "PYTHONPATH": str(ROOT / "src")}
    for name in PLANS:
        arguments = ["-m", "pacenote.cli.main", "run", "--plan", f"plans/{name}.toml", "--lang", "en"]
        done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=False)
        if done.returncode:
            raise SystemExit(f"plan {name} ended with exit code {done.returncode}")


def sick(study: Study, label: str) -> list[str]:
    """Codes of what made this condition unhealthy."""
    return sorted({f.code for f in study.findings if f.severity is Severity.UNHEALTHY and f.subject == label})


def cell(study: Study, label: str, records: list[TrialRecord]) -> dict[str, Any]:
    """Figures of one condition."""
    chosen = [record for record in records if record.spec == spec_of(study, label)]
    summaries = [stats.summarize(record) for record in chosen]
    known = [one for one in summaries if one.step_time_s]
    if not known:
        return {"label": label, "processes": 0}
    interval = stats.cell_interval(known)
    samples = known[0].samples_per_step or 1
    phases = {name: sum(one.phase_s[name] for one in known) for name in known[0].phase_s}
    return {
        "label": label,
        "framework": chosen[0].spec.framework,
        "levers": chosen[0].spec.levers,
        "processes": len(known),
        "steps": sum(one.steps for one in known),
        "step_s": interval.value,
        "low_s": interval.low,
        "high_s": interval.high,
        "samples_per_step": samples,
        "cold_100_s": median([cold_s(record, one) for record, one in zip(chosen, summaries, strict=True)]),
        "phase_share": {name: value / sum(phases.values()) for name, value in phases.items()},
        "pss_bytes": median([record.memory.pss_bytes.value for record in chosen]),
        "swap_bytes": max(record.memory.swap_bytes.value or 0.0 for record in chosen),
        "unhealthy": sick(study, label),
        "data": chosen[0].data.get("source"),
    }


def spec_of(study: Study, label: str) -> Any:
    """The spec behind a label."""
    return next(cell.spec for cell in study.cells if cell.label == label)


def cold_s(record: TrialRecord, summary: stats.TrialSummary) -> float | None:
    """A hundred steps from the start of the process: start, import, build, first step, and 99 usual ones."""
    start = record.cold_start
    parts = [start.process_s, start.import_s, start.device_init_s, start.build_s, start.first_step_s]
    if summary.step_time_s is None or any(part is None for part in parts):
        return None
    return sum(part for part in parts if part is not None) + (STEPS - 1) * summary.step_time_s


def median(values: list[float | None]) -> float | None:
    """Median of what is known."""
    known = sorted(value for value in values if value is not None)
    return known[len(known) // 2] if known else None


def ratios(study: Study) -> list[dict[str, Any]]:
    """Every ratio that was printed, and every one that was refused with the reason."""
    kept = ("ratio", "ratio_refused", "ratio_forced")
    return [{"code": f.code, **f.params} for f in study.findings if f.code in kept]


def main() -> int:
    """Run the plans and write results/articles.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path(tempfile.gettempdir()) / "pacenote-articles.sqlite")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--read-only", action="store_true", help="reduce what the store holds; run nothing")
    chosen = parser.parse_args()
    bench = Benchmark("articles", folder=chosen.folder)
    if not chosen.read_only:
        run_plans(chosen.store)
    bench.extra["studies"] = {}
    with Store(chosen.store) as store:
        names = (
            "article1",
            "article1-one-thread",
            "article1-width",
            "article2-batch",
            "article2-device",
            "article2-loader",
        )
        for name in names:
            study = store.get_study(name)
            records = store.trials(study.id)
            cells = [cell(study, one.label, records) for one in study.cells]
            bench.extra["studies"][name] = {"cells": cells, "ratios": ratios(study)}
            for one in cells:
                value, n = one.get("step_s"), one.get("processes", 0)
                healthy = not one.get("unhealthy")
                bench.line(f"{name}: {one['label']}: step", value, None, None, n, "s" if healthy else "s, unhealthy")
    say(f"store: {chosen.store}")
    return bench.write()


if __name__ == "__main__":
    raise SystemExit(main())
