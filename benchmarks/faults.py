"""Faults of every kind are planted in real runs; nothing finished may be lost, no process left, no traceback shown.

``python benchmarks/faults.py [--quick] [--only TEXT] [--fresh]``. Each injection runs the command line in a process of
its own (``fault_driver.py``), on the simulated framework where the fault does not depend on a framework, and is judged
from outside: the store, the process table, the output and the exit code. Then the same command runs again without a
fault and must go on where the first one stopped. Takes about five minutes; an interrupted benchmark goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from fault_scenarios import INTERRUPTED, SCENARIOS, Scenario
from harness import ROOT, Benchmark, say

DRIVER = Path(__file__).resolve().parent / "fault_driver.py"
MARK = "PACENOTE_FAULT_MARK"
USUAL = ("run", "simulated", "--framework", "simulated", "--batch-size", "1,2", "--rounds", "3")
ORPHAN_GRACE_S = 8.0
"""A loader worker looks for its parent every five seconds; everything else ends at once."""

LIMIT_S = 120.0
TRACES = ("Traceback (most recent call last)", "unexpected ", "Fatal Python error")


def main() -> int:
    """Run the injections that are not yet done and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one injection of each kind")
    parser.add_argument("--only", default="", help="only injections whose name or kind holds this text")
    parser.add_argument("--fresh", action="store_true", help="do not resume")
    options = parser.parse_args()
    part = options.quick or bool(options.only)
    bench = Benchmark(
        "faults",
        folder=Path(tempfile.gettempdir()) / "pacenote-benchmarks" if part else None,
        settings={"quick": options.quick, "only": options.only},
    )
    if options.fresh:
        bench.forget()
    chosen = [one for one in SCENARIOS if options.only in f"{one.kind} {one.name}" and (one.quick or not options.quick)]
    done = {sample["name"] for sample in bench.samples("injection")}
    for scenario in chosen:
        if scenario.name in done:
            continue
        began_s = time.monotonic()
        sample = inject(scenario)
        bench.append("injection", sample, seconds=round(time.monotonic() - began_s, 2))
        say(f"  {'ok  ' if sample['ok'] else 'FAIL'} {scenario.kind}: {scenario.name} {sample['wrong'] or ''}")
    return summarise(bench, quick=part)


def summarise(bench: Benchmark, *, quick: bool) -> int:
    """Count what went wrong."""
    samples = bench.samples("injection")
    count = len(samples)
    kinds = sorted({sample["kind"] for sample in samples})
    bench.line("injections", count, None if quick else 30, None if quick else count >= 30, n=count)
    for name in ("lost", "orphans", "traces"):
        total = sum(sample[name] for sample in samples)
        bench.line(
            {"lost": "finished trials lost", "traces": "tracebacks shown"}.get(name, name), total, 0, total == 0, count
        )
    for name, key in (("wrongly classified", "misnamed"), ("wrong exit code", "wrong_code"), ("not resumed", "stuck")):
        total = sum(sample[key] for sample in samples)
        bench.line(name, total, 0, total == 0, count)
    for kind in kinds:
        of_kind = [sample for sample in samples if sample["kind"] == kind]
        bench.line(f"kind {kind}", sum(sample["ok"] for sample in of_kind), len(of_kind), None, len(of_kind), "handled")
    bench.extra["injections"] = [{key: sample[key] for key in ("kind", "name", "ok", "wrong")} for sample in samples]
    return bench.write()


def inject(scenario: Scenario) -> dict[str, Any]:
    """Run one injection and judge it."""
    with tempfile.TemporaryDirectory(prefix="pacenote-fault-") as folder:
        place = Path(folder)
        first = command(scenario, place, scenario.driver)
        orphans = left_behind(first["mark"])
        stored = read_ids(place / "stored")
        kept = records(place / "store.sqlite")
        lost = [one for one in stored if kept.get(one) != "finished"]
        again = command(scenario, place, {})
        orphans += left_behind(again["mark"])
        after = records(place / "store.sqlite")
        lost += [one for one in stored if one not in lost and after.get(one) != "finished"]
        verdict = {
            "lost": len(lost),
            "orphans": orphans,
            "traces": sum(trace in run["output"] for run in (first, again) for trace in TRACES),
            "misnamed": int(scenario.status is not None and scenario.status not in kept.values()),
            "wrong_code": int(first["code"] not in scenario.codes or again["code"] != 0),
            "stuck": int(not went_on(scenario, place, stored)),
        }
        wrong = [name for name, count in verdict.items() if count]
        shown = f"{wrong}: exit {first['code']}, then {again['code']}; {first['output'][-300:]!r}" if wrong else ""
        return {"kind": scenario.kind, "name": scenario.name, **verdict, "ok": not wrong, "wrong": shown}


def command(scenario: Scenario, place: Path, driver: dict[str, Any]) -> dict[str, Any]:
    """Run the command once under the driver; returns exit code, output, and the mark its children carry."""
    mark = uuid.uuid4().hex
    told = place / "scenario.json"
    told.write_text(json.dumps({**driver, "stored": str(place / "stored")}))
    environ = {**os.environ, "PACENOTE_STORE": str(place / "store.sqlite"), MARK: mark, "PACENOTE_LANG": "en"}
    lock = hold_lock(place / "store.sqlite") if driver.get("lock") else None
    try:
        ended = subprocess.run(
            [sys.executable, str(DRIVER), str(told), *(scenario.command or USUAL)],
            env=environ,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
        return {"code": ended.returncode, "output": ended.stdout.decode(errors="replace"), "mark": mark}
    except subprocess.TimeoutExpired as error:
        return {"code": None, "output": (error.stdout or b"").decode(errors="replace"), "mark": mark}
    finally:
        if lock is not None:
            lock.close()


def hold_lock(place: Path) -> sqlite3.Connection:
    """Make a store and keep another writer's transaction open in it."""
    subprocess.run(
        [sys.executable, "-c", "import sys; from pacenote.store import Store; Store(sys.argv[1]).close()", str(place)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=True,
    )
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return connection


def left_behind(mark: str) -> int:
    """Count processes of a run that still live when it has ended, and end them."""
    deadline_s = time.monotonic() + ORPHAN_GRACE_S
    while (found := marked(mark)) and time.monotonic() < deadline_s:
        time.sleep(0.1)
    for pid in found:
        os.kill(pid, 9)
    return len(found)


def marked(mark: str) -> list[int]:
    """Processes whose environment carries the mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                carries = f"{MARK}={mark}".encode() in (entry / "environ").read_bytes()
            except OSError:
                continue
            if carries:
                found.append(int(entry.name))
    return found


def read_ids(place: Path) -> list[str]:
    """Finished trials that the store has confirmed."""
    return place.read_text().split() if place.exists() else []


def records(place: Path) -> dict[str, str]:
    """Status of each trial in the store, read without our own code: what is not on disk does not count."""
    if not place.exists():
        return {}
    connection = sqlite3.connect(place)
    try:
        return dict(connection.execute("SELECT id, status FROM trial").fetchall())
    except sqlite3.DatabaseError:
        return {}
    finally:
        connection.close()


def went_on(scenario: Scenario, place: Path, stored: list[str]) -> bool:
    """Whether the second command finished the study of the first, using what was there."""
    connection = sqlite3.connect(place / "store.sqlite")
    try:
        studies = connection.execute("SELECT id, finished FROM study").fetchall()
        linked = {row[0] for row in connection.execute("SELECT trial_id FROM study_trial").fetchall()}
    except sqlite3.DatabaseError:
        return False
    finally:
        connection.close()
    stopped_early = bool(set(scenario.codes) & {INTERRUPTED, -9, -15, 143, 4})
    wanted = 1 if stopped_early else 2
    return len(studies) == wanted and all(finished for _, finished in studies) and set(stored) <= linked


if __name__ == "__main__":
    raise SystemExit(main())
