"""Sick states that this machine cannot be put into, taken from recorded trees and set into real records.

The trees (tests/unit/trees) go through the same readings as the live machine: counters before and after, snapshot,
footprint, sensors. What came out replaces the same fields of one side's records; the rules then judge the whole study
again. Nothing of the rules is known here.
"""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from programs import one_study

from pacenote.experiments.judging import Judge
from pacenote.records import Environment, Reading, TrialRecord, Turn
from pacenote.store import Store
from pacenote.system import counters, process, sensors, snapshot
from pacenote.system.reader import Reader

TREES: Final = Path(__file__).resolve().parents[2] / "tests" / "unit" / "trees"
PID: Final = 4242
APART_S: Final = 10.0
"""Seconds between the two trees of a pair (tests/unit/trees/README.md)."""

SCENES: Final[dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]]] = {
    "cgroup v2 throttled": (("v2_nested",), "v2_throttled_{}", ("throttled_s", "throttled_count")),
    "swapping": (("swap",), "swap_{}", ("swapped_in_bytes", "swapped_out_bytes")),
    "thermal throttle": (("thermal",), "thermal_{}", ("thermal_throttle_count",)),
    "steal": ((), "steal_{}", ("steal_s",)),
}
"""Scene → trees before, tree after by severity, and the counters it is about."""

SNAPSHOT_KEYS: Final = {
    "cgroup v2 throttled": ("throttled_count",),
    "swapping": ("swap_used_bytes", "swap_total_bytes"),
    "thermal throttle": ("cpu_clock_hz", "cpu_clock_max_hz", "cpu_temperature_c", "cpu_critical_c"),
    "steal": (),
}

EXPECTED: Final = {
    "cgroup v2 throttled": ("cgroup_throttled",),
    "swapping": ("swapping",),
    "thermal throttle": ("thermal_throttle",),
    "steal": ("steal",),
    "accelerator shared": ("accelerator_shared",),
}
"""Scene → findings of which at least one should name it."""

SHARED_BY: Final = {"mild": 1, "moderate": 3, "severe": 12}
"""Foreign processes on the accelerator."""


def lay(folder: Path, names: Sequence[str]) -> Reader:
    """Lay trees over ``plain``."""
    for name in ("plain", *names):
        shutil.copytree(TREES / name, folder, dirs_exist_ok=True)
    return Reader(folder)


def graft(record: TrialRecord, scene: str, severity: str) -> TrialRecord:
    """Return the record as it would be had the scene been this machine."""
    if scene == "accelerator shared":
        return shared_accelerator(record, SHARED_BY[severity])
    base, after_name, fields = SCENES[scene]
    with tempfile.TemporaryDirectory() as folder:
        before = lay(Path(folder, "before"), base)
        after = lay(Path(folder, "after"), [*base, after_name.format(severity)])
        change = difference(before, after)
        state = snapshot.snapshot(after)
        changes: dict[str, Any] = {
            "turns": [grafted_turn(turn, change, fields) for turn in record.turns],
            "before": {**record.before, **{key: state[key] for key in SNAPSHOT_KEYS[scene]}},
        }
        if scene == "swapping":
            swapped = process.footprint(PID, after).swap_bytes
            changes["memory"] = msgspec.structs.replace(record.memory, swap_bytes=swapped)
        if scene == "thermal throttle":
            changes["sensors"] = heat(after, record)
    return msgspec.structs.replace(record, **changes)


def difference(before: Reader, after: Reader) -> dict[str, Any]:
    """What the counters say happened between two trees."""
    first = dataclasses.replace(counters.read(PID, before, own_pids=()), t_s=0.0)
    second = dataclasses.replace(counters.read(PID, after, own_pids=()), t_s=APART_S)
    found: dict[str, Any] = msgspec.to_builtins(counters.difference(first, second))
    return found


def grafted_turn(turn: Turn, change: dict[str, Any], fields: Sequence[str]) -> Turn:
    """Set the scene's counters into a turn, in proportion to how long it lasted; a count that grew stays at least 1."""
    share = turn.counters.wall_s / APART_S
    values: dict[str, Any] = {}
    for name in fields:
        scaled = change[name] * share
        values[name] = max(1, round(scaled)) if name.endswith("_count") else scaled
    return msgspec.structs.replace(turn, counters=msgspec.structs.replace(turn.counters, **values))


def heat(reader: Reader, record: TrialRecord) -> Any:
    """Sensors of the trial as the tree's sensors would have read."""
    watch = sensors.Watch("cpu", reader)
    watch.begin()
    watch.end()
    found = watch.result()
    return msgspec.structs.replace(
        record.sensors, cpu_clock_hz=found.cpu_clock_hz, cpu_temperature_c=found.cpu_temperature_c
    )


def shared_accelerator(record: TrialRecord, processes: int) -> TrialRecord:
    """The same trial on an accelerator that other processes hold."""
    device = {
        "index": 0,
        "name": "card",
        "memory_total_bytes": 8 << 30,
        "memory_used_bytes": processes << 28,
        "other_process_count": processes,
        "slowed_by": [],
        "utilisation_share": 0.5,
        "temperature_c": 55.0,
    }
    return msgspec.structs.replace(
        record,
        spec=msgspec.structs.replace(record.spec, device="cuda:0"),
        before={**record.before, "accelerators": [device]},
        memory=msgspec.structs.replace(
            record.memory, device_peak_bytes=Reading(value=float(1 << 28), method="measured")
        ),
    )


class _Keeper:
    """Gives the judge the environment and keeps nothing: the store must not learn of summaries that were made up."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put_summary(self, trial_id: str, version: int, summary: msgspec.Struct) -> None:
        """Forget it."""

    def get_environment(self, key: str) -> Environment | None:
        """Environment by its hash."""
        return self._store.get_environment(key)


def regrafted(store_path: Path, study_id: str, scene: str, severity: str) -> dict[str, Any]:
    """Judge a stored study again with the scene set into its last cell."""
    with Store(store_path) as store:
        study = store.get_study(study_id)
        records = store.trials(study_id)
        sick = study.cells[-1].spec.hash()
        changed = [graft(record, scene, severity) if record.spec_hash == sick else record for record in records]
        judge = Judge(_Keeper(store))
        judged = judge.judged(study, changed)
        shown = one_study.shown(judged, changed, judge, store.get_environment(judged.environment_hash))
    return {"findings": msgspec.to_builtins(judged.findings), "text": shown}
