"""Scripts in every style, run as they are and under Pacenote: the same output, exit code, weights and steps."""

from __future__ import annotations

import gzip
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pacenote.depth import operators
from pacenote.records import Kind, TrialRecord
from pacenote.segment import segment
from pacenote.store import Store

SCRIPTS = Path(__file__).parent.parent / "scripts"
ARTICLES = Path(__file__).parents[2] / "examples" / "articles"

PYTORCH = (
    *("plain", "own_batches", "generator", "gan", "accumulation", "grad_scaler", "closure", "by_hand", "validation"),
    *("compiled", "compiled_step", "workers_fork", "workers_spawn"),
)
PADDLE = ("plain", "fit", "amp", "accumulation")
ENDS = {"exception": 1, "exit": 7, "interrupt": None, "_exit": 9}  # what an interrupt gives differs
HOSTILE = ("stdout", "chdir", "temp", "loader", "descriptors", "flood", "fork")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


def environ(store: Path) -> dict[str, str]:
    return {**os.environ, "PACENOTE_STORE": str(store), "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(store.parent)}


def alone(command: list[str], store: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *command], env=environ(store), capture_output=True, text=True, check=False, timeout=240
    )
    if done.returncode < 0:
        done.returncode = 128 - done.returncode
    return done


def under(command: list[str], store: Path, *options: str) -> subprocess.CompletedProcess[str]:
    split = ["--", *command[1:]] if len(command) > 1 else []
    return subprocess.run(
        [sys.executable, "-m", "pacenote.cli.main", "run", *options, command[0], *split],
        env=environ(store),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def cli(arguments: list[str], store: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pacenote.cli.main", *arguments]
    return subprocess.run(command, env=environ(store), capture_output=True, text=True, check=False, timeout=240)


def trials(store: Path) -> list[TrialRecord]:
    with Store(store) as opened:
        return opened.trials(opened.get_study("last").id)


def steps_said(output: str) -> int:
    found = re.search(r"^steps (\d+) ", output, re.MULTILINE)
    assert found is not None, output
    return int(found[1])


def same(command: list[str], store: Path) -> TrialRecord:
    """Run both ways, compare, and return the record of the process that trained."""
    plain, measured = alone(command, store), under(command, store)
    assert measured.stdout == plain.stdout, measured.stderr
    assert measured.returncode == plain.returncode, measured.stderr
    (record,) = trials(store)
    assert len(segment(record.events)) == steps_said(plain.stdout)
    return record


@pytest.mark.torch
@pytest.mark.parametrize("name", PYTORCH)
def test_a_pytorch_script_is_measured_as_it_is(name: str, store: Path) -> None:
    record = same([str(SCRIPTS / "pytorch" / f"{name}.py")], store)
    assert record.framework["name"] == "pytorch"


@pytest.mark.paddle
@pytest.mark.parametrize("name", PADDLE)
def test_a_paddle_script_is_measured_as_it_is(name: str, store: Path) -> None:
    record = same([str(SCRIPTS / "paddle" / f"{name}.py")], store)
    assert record.framework["name"] == "paddle"


@pytest.mark.torch
@pytest.mark.parametrize(("way", "code"), ENDS.items())
def test_the_way_a_script_ends_stays_its_own(way: str, code: int | None, store: Path) -> None:
    record = same([str(SCRIPTS / "pytorch" / "ends.py"), way], store)
    assert code is None or record.outcome.exit_code == code


@pytest.mark.torch
def test_a_script_that_is_killed_keeps_what_was_written(store: Path) -> None:
    command = [str(SCRIPTS / "pytorch" / "ends.py"), "terminate"]
    plain, measured = alone(command, store), under(command, store)
    assert (measured.stdout, measured.returncode) == (plain.stdout, plain.returncode)
    assert measured.returncode == 143
    (record,) = trials(store)
    assert 1 <= len(segment(record.events)) <= steps_said(plain.stdout)


@pytest.mark.torch
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_script_is_recorded(what: str, store: Path) -> None:
    same([str(SCRIPTS / "hostile" / "hostile.py"), what], store)


@pytest.mark.torch
@pytest.mark.parametrize("way", ["spawn", "fork"])
def test_each_rank_leaves_a_record(way: str, store: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(SCRIPTS / "pytorch" / "ranks.py"), way, str(port)]
    plain, measured = alone(command, store), under(command, store)
    assert measured.stdout == plain.stdout, measured.stderr
    assert measured.returncode == plain.returncode == 0
    records = sorted(trials(store), key=lambda record: record.rank)
    assert [(record.rank, record.world_size) for record in records] == [(0, 2), (1, 2)]
    assert records[1].parent_id == records[0].id
    assert [len(segment(record.events)) for record in records] == [steps_said(plain.stdout)] * 2


@pytest.mark.torch
def test_ranks_that_torchrun_starts_leave_a_record_each(store: Path) -> None:
    command = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(SCRIPTS / "pytorch" / "ranks.py")]
    done = under(command, store, "--module")
    assert done.returncode == 0, done.stderr
    records = trials(store)
    assert sorted((record.rank, record.world_size) for record in records) == [(0, 2), (1, 2)]
    assert [len(segment(record.events)) for record in records] == [steps_said(done.stdout)] * 2


@pytest.mark.torch
@pytest.mark.parametrize("options", [("--steps", "10"), ("--seconds", "0.01")])
def test_a_script_is_ended_when_enough_was_seen(options: tuple[str, str], store: Path) -> None:
    done = under([str(SCRIPTS / "pytorch" / "own_batches.py")], store, *options)
    assert done.returncode == 0, done.stderr
    assert "steps" not in done.stdout
    (record,) = trials(store)
    if options[0] == "--steps":
        assert len(segment(record.events)) == 10


@pytest.mark.torch
def test_a_function_that_makes_batches_is_found(store: Path) -> None:
    under([str(SCRIPTS / "pytorch" / "own_batches.py")], store)
    (record,) = trials(store)
    assert [one["function"] for one in record.events.objects if one["kind"] == "data_function"] == ["get_batch"]
    assert segment(record.events).counts["data_wait"][-1] == 1


LEVERS = {
    "threads": "2",
    "batch_size": "8",
    "loader_workers": "1",
    "dtype": "bf16",
    "compile": "off",
    "fused_optimizer": "on",
}


@pytest.mark.torch
@pytest.mark.parametrize("script", ["plain", "accumulation", "validation"])
def test_levers_are_applied_from_outside_and_seen(script: str, store: Path) -> None:
    options = [part for name, value in LEVERS.items() for part in (f"--{name.replace('_', '-')}", value)]
    done = under([str(SCRIPTS / "pytorch" / f"{script}.py")], store, *options)
    assert done.returncode == 0, done.stderr
    (record,) = trials(store)
    outcomes = {one.name: (one.applied, one.reason) for one in record.levers}
    shuffles = script != "accumulation"  # what does not shuffle is not taken for a training loader
    expected = {name: (True, "") for name in LEVERS}
    if not shuffles:
        expected.update(batch_size=(False, "no_training_loader"), loader_workers=(False, "no_training_loader"))
    assert outcomes == expected


def test_an_isolated_interpreter_is_told_in_one_line(store: Path, tmp_path: Path) -> None:
    isolated = tmp_path / "isolated"
    isolated.write_text(f"#!/bin/sh\nexec {sys.executable} -I -c 'print(1)'\n")
    isolated.chmod(0o755)
    done = under([str(isolated)], store)
    assert (done.stdout, done.returncode) == ("1\n", 0)
    assert done.stderr.startswith("pacenote: no process of")
    assert done.stderr.count("\n") == 1


@pytest.mark.torch
def test_operators_of_a_few_late_steps_are_recorded(store: Path) -> None:
    done = under([str(SCRIPTS / "pytorch" / "plain.py")], store, "--steps", "14")
    assert done.returncode == 0, done.stderr
    (record,) = trials(store)
    assert record.depth is not None
    assert record.depth.failure == ""
    found = segment(record.events)
    assert len(found) == 14
    assert found.depth.sum() == record.depth.steps == 3
    assert sum(row.calls for row in operators(record.depth) if row.name == "aten::addmm") == 2.0  # two linear layers
    assert record.depth.memory["cpu"]["allocations"] > 0


@pytest.mark.paddle
def test_operators_of_a_paddle_script_are_recorded(store: Path) -> None:
    done = under([str(SCRIPTS / "paddle" / "plain.py")], store, "--steps", "14")
    assert done.returncode == 0, done.stderr
    (record,) = trials(store)
    assert record.depth is not None
    assert record.depth.failure == ""
    assert segment(record.events).depth.sum() == record.depth.steps == 3
    rows = {row.name: row for row in operators(record.depth)}
    assert any("matmul" in name or "linear" in name for name in rows), rows


@pytest.mark.torch
def test_nothing_is_recorded_in_depth_when_not_wanted(store: Path) -> None:
    under([str(SCRIPTS / "pytorch" / "plain.py")], store, "--steps", "14", "--no-operators")
    (record,) = trials(store)
    assert record.depth is None


@pytest.mark.torch
@pytest.mark.parametrize("how", ["long", "profiles", "workers"])
def test_a_script_that_lasts_is_recorded_in_depth_and_left_as_it_is(how: str, store: Path) -> None:
    record = same([str(SCRIPTS / "pytorch" / "lasting.py"), how], store)
    depth = segment(record.events).depth
    if how == "profiles":  # its own profiler runs all the time
        assert record.depth is None
        assert not depth.any()
    else:
        assert record.depth is not None
        assert record.depth.failure == ""
        assert 3 <= depth.sum() < 20


@pytest.mark.torch
def test_a_trace_of_the_scripts_own_profiler_tells_the_same_steps(store: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    done = under([str(SCRIPTS / "pytorch" / "traced.py"), str(trace)], store)
    assert done.returncode == 0, done.stderr
    (measured,) = trials(store)
    told = cli(["import", str(trace), "--json"], store)
    assert told.returncode == 0, told.stderr
    (imported,) = trials(store)
    assert imported.kind is Kind.IMPORTED
    ours, theirs = segment(measured.events), segment(imported.events)
    assert len(theirs) == len(ours)
    for name in ("forward", "backward", "optimizer"):
        own, other = float(np.median(ours.phases[name])), float(np.median(theirs.phases[name]))
        assert 0.3 * own < other < 1.5 * own, name  # operators only, so without the Python between them
    assert imported.depth is not None
    assert {"aten::addmm", "aten::mm"} <= {row.name for row in operators(imported.depth)}


@pytest.mark.torch
def test_a_run_is_exported_as_a_trace(store: Path, tmp_path: Path) -> None:
    under([str(SCRIPTS / "pytorch" / "plain.py")], store, "--steps", "14")
    written = tmp_path / "run.json.gz"
    done = cli(["export", "-o", str(written)], store)
    assert done.returncode == 0, done.stderr
    trace = json.loads(gzip.decompress(written.read_bytes()))
    names = [event["name"] for event in trace["traceEvents"]]
    assert names.count("step 14") == 1
    assert names.count("backward") == 14
    assert names.count("aten::addmm") == 6


@pytest.mark.torch
def test_a_reader_that_the_script_names_is_waited_for(store: Path) -> None:
    record = same([str(SCRIPTS / "pytorch" / "tracked.py")], store)
    steps = segment(record.events)
    assert min(steps.phases["data_wait"]) > 0.004
    assert steps.counts["data_wait"].tolist() == [1] * len(steps)


@pytest.mark.torch
def test_a_name_that_does_not_exist_is_told_with_its_line(store: Path) -> None:
    done = under([str(ARTICLES / "printed" / "fused.py")], store)
    assert done.returncode == 1
    assert "AttributeError" in done.stderr
    assert "fused.py, line 10: torch._C._nn.fused_relu_linear does not exist" in done.stderr


@pytest.mark.torch
@pytest.mark.parametrize("way", ["printed", "corrected"])
def test_what_is_wrong_in_an_articles_code_is_a_finding_of_its_run(way: str, store: Path) -> None:
    done = under([str(ARTICLES / way / "accumulation.py")], store)
    assert done.returncode == 0, done.stderr
    with Store(store) as opened:
        codes = {finding.code for finding in opened.get_study("last").findings}
    assert ("source_undivided_accumulation" in codes) == (way == "printed")
    assert ("not divided by 4" in done.stderr) == (way == "printed")


@pytest.mark.torch
@pytest.mark.parametrize("name", ["timer", "to_device", "accumulation", "data_parallel"])
@pytest.mark.parametrize("way", ["printed", "corrected"])
def test_the_articles_pytorch_code_runs(name: str, way: str, store: Path) -> None:
    if (name, way) == ("data_parallel", "corrected"):
        pytest.skip("it needs a launcher")
    done = alone([str(ARTICLES / way / f"{name}.py")], store)
    assert done.returncode == 0, done.stderr


@pytest.mark.torch
@pytest.mark.parametrize("way", ["printed", "corrected"])
def test_the_articles_distributed_code_runs(way: str, store: Path) -> None:
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = alone([*command, str(ARTICLES / way / "distributed.py")], store)
    assert done.returncode == 0, done.stderr


@pytest.mark.paddle
@pytest.mark.parametrize("name", ["training_loop", "mixed_precision"])
@pytest.mark.parametrize("way", ["printed", "corrected"])
def test_the_articles_paddle_code_runs(name: str, way: str, store: Path) -> None:
    done = alone([str(ARTICLES / way / f"{name}.py")], store)
    assert done.returncode == 0, done.stderr
