"""The main job with real frameworks: small, and without a word about how fast anything was."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pacenote import segment, stats
from pacenote.experiments import calibration, sweep
from pacenote.plan import FRAMEWORK_MODULES, RunOptions
from pacenote.records import Effort, Status, Study, TrialRecord
from pacenote.runner import progress
from pacenote.store import Store

SHORT = Effort(warmup_s=0.1, turn_s=0.1, turns=3)

FRAMEWORKS = [
    pytest.param("pytorch", marks=pytest.mark.torch),
    pytest.param("paddle", marks=pytest.mark.paddle),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.fixture
def uncalibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ceilings take three seconds a framework, which only one test here is about."""
    monkeypatch.setattr(calibration, "measure", lambda spec, parts: {"reason": "not_calibrated"})


def need(framework: str) -> None:
    if importlib.util.find_spec(FRAMEWORK_MODULES[framework]) is None:
        pytest.skip(f"{framework} is not installed")


def measure(store: Store, framework: str, workload: str, **options: object) -> tuple[Study, list[TrialRecord]]:
    need(framework)
    asked = RunOptions(
        **{
            "workload": workload,
            "frameworks": [framework],
            "devices": ["cpu"],
            "axes": {"batch_size": [8], "threads": [1]},
            "rounds": 1,
            "effort": SHORT,
            **options,
        }
    )
    study = sweep.run(asked, store)
    return study, store.trials(study.id)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_real_training_becomes_a_whole_record(store: Store, framework: str) -> None:
    study, (record,) = measure(store, framework, "lenet")
    assert record.outcome.status is Status.FINISHED
    assert [turn.turn for turn in record.turns] == [0, 1, 2, 3]
    cut = segment.segment(record.events)
    assert cut.anchor == "optimizer"
    assert len(cut.total_s) == sum(turn.steps for turn in record.turns)
    summary = stats.summarize(record)
    assert all(summary.phase_s[phase] > 0 for phase in ("data_wait", "forward", "backward", "optimizer"))
    assert sum(summary.phase_s.values()) == pytest.approx(summary.step_time_mean_s)
    assert (record.samples_per_step, record.data["source"]) == (8, "stand-in")
    assert record.cold_start.import_s
    assert record.cold_start.first_step_s
    assert record.memory.rss_peak_bytes.value
    assert record.flop_per_sample.method == "formula"
    assert record.ceiling_flops.method == "measured"
    assert record.turns[0].losses
    applied = {lever.name: lever.applied for lever in record.levers}
    assert (applied["batch_size"], applied["threads"]) == (True, True)
    assert not [name for name, was in applied.items() if was is False]
    environment = store.get_environment(record.environment_hash)
    assert environment is not None
    assert environment.facts["framework"]["name"] == framework
    assert {"cell_time", "phases", "stand_in_data"} <= {finding.code for finding in study.findings}


# Only PyTorch: plain Paddle 3.3.1 (ToTensor in a forked worker) ends in a segmentation fault every other time.
@pytest.mark.torch
@pytest.mark.usefixtures("uncalibrated")
def test_loader_workers_take_a_long_turn_and_leave_nothing_behind(store: Store) -> None:
    axes = {"batch_size": [8], "threads": [1], "loader_workers": [1]}
    _, (record,) = measure(store, "pytorch", "lenet", axes=axes, data_mode="loader")
    assert record.outcome.status is Status.FINISHED
    assert [turn.turn for turn in record.turns] == [0, 1]
    assert segment.segment(record.events).anchor == "data"
    assert next(lever for lever in record.levers if lever.name == "loader_workers").applied is True


@pytest.mark.usefixtures("uncalibrated")
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_out_of_memory_is_told_apart_and_the_other_cell_goes_on(store: Store, framework: str) -> None:
    # 2^26 hidden units and their gradient take hundreds of gigabytes: the allocation itself fails.
    axes = {"batch_size": [64], "threads": [1], "width": [1.0, 131072.0]}
    _, records = measure(store, framework, "simplenet", axes=axes)
    found = {record.spec.levers["width"]: record.outcome.status for record in records}
    assert found == {1.0: Status.FINISHED, 131072.0: Status.OUT_OF_MEMORY}


DRIVER = """
import signal

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
import sys
from pacenote.experiments import calibration, sweep
from pacenote.plan import RunOptions
from pacenote.records import Effort
from pacenote.store import Store

calibration.measure = lambda spec, parts: {"reason": "not_calibrated"}

def watch(event):
    print(type(event).__name__, getattr(event, "cell", ""), flush=True)

options = RunOptions(
    workload="simplenet", frameworks=[sys.argv[2]], devices=["cpu"], axes={"threads": [1]}, rounds=9,
    effort=Effort(warmup_s=0.1, turn_s=0.1, turns=3),
)
with Store(sys.argv[1]) as store:
    study = sweep.run(options, store, watch)
    print("stopped", study.options["stopped"], flush=True)
"""


def children_of(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(one) for one in found]


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="looks for orphans in /proc")
@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_ending_pacenote_keeps_what_is_finished_and_leaves_no_orphan(
    tmp_path: Path, framework: str, number: signal.Signals
) -> None:
    need(framework)
    script, place = tmp_path / "driver.py", tmp_path / "store.sqlite"
    script.write_text(textwrap.dedent(DRIVER))
    command = [sys.executable, str(script), str(place), framework]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        finished = 0
        for line in process.stdout:
            finished += line.startswith("TrialEnded")
            if finished and line.startswith("TurnDone"):
                break
        children = children_of(process.pid)
        os.kill(process.pid, number)
        rest, errors = process.communicate(timeout=60)
    assert children
    assert "Traceback" not in errors
    assert ("stopped interrupted" in rest) is (number is signal.SIGINT)
    deadline = time.monotonic() + 30
    while not all(gone(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert all(gone(child) for child in children)
    with Store(place) as store:
        study = store.get_study("last")
        records = store.trials(study.id)
    assert sum(record.outcome.status is Status.FINISHED for record in records) == finished
    assert not study.finished


@pytest.mark.torch
@pytest.mark.usefixtures("uncalibrated")
def test_progress_gives_the_first_number_in_the_first_round(store: Store) -> None:
    need("pytorch")
    told: list[progress.Event] = []
    options = RunOptions(workload="simplenet", frameworks=["torch"], devices=["cpu"], rounds=1, effort=SHORT)
    sweep.run(options, store, told.append)
    kinds = [type(event) for event in told]
    assert kinds.index(progress.TurnDone) < kinds.index(progress.TrialEnded)
