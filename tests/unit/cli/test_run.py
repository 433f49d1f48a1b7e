"""What is typed becomes options; the simulated framework runs them through real processes in a virtual time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pacenote.cli.levers import RISKS, with_lever_options
from pacenote.experiments import sweep
from pacenote.levers import LEVERS
from pacenote.plan import RunOptions
from pacenote.records import Study
from pacenote.store import Store

Call = Callable[..., Any]

QUICK = ("--framework", "simulated", "--rounds", "2", "--quiet")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[RunOptions]:
    """Options that reached the main job, which then answers with an empty study."""
    seen: list[RunOptions] = []

    def run(options: RunOptions, store: Store, watcher: object) -> Study:
        seen.append(options)
        stopped = "interrupted" if options.name == "stop" else "rounds"
        study = Study(id=f"{len(seen):020}", question="run", created_unix_s=1.0, options={"stopped": stopped})
        store.put_study(study)
        return study

    monkeypatch.setattr(sweep, "run", run)
    return seen


def test_defaults(call: Call, asked: list[RunOptions]) -> None:
    assert call("run", "lenet").code == 0
    [options] = asked
    expected = RunOptions(workload="lenet")
    assert msgspec.structs.replace(options, command=[]) == expected


def test_every_option_arrives(call: Call, asked: list[RunOptions], tmp_path: Path) -> None:
    words = (
        "run lenet --framework torch,paddle --device cpu --batch-size 32,256 --threads 1 --dtype bf16 --seed 3 --force"
    )
    more = f"--data {tmp_path} --data-mode device --time-budget 1h --within 2% --name mine --fresh --rounds 9"
    assert call(*words.split(), *more.split()).code == 0
    [options] = asked
    assert options.frameworks == ["torch", "paddle"]
    assert options.devices == ["cpu"]
    assert options.axes == {"batch_size": [32, 256], "threads": [1], "dtype": ["bf16"]}
    assert options.data_dir == str(tmp_path)
    assert (options.data_mode, options.time_budget_s, options.within) == ("device", 3600.0, 0.02)
    assert (options.name, options.resume, options.force, options.seed, options.rounds) == ("mine", False, True, 3, 9)


def test_every_lever_has_its_option(call: Call) -> None:
    shown = " ".join(call("run", "--help").out.split())
    for lever in LEVERS:
        assert lever.option in shown
        assert lever.risk in RISKS


def test_a_new_lever_is_an_option_without_another_line() -> None:
    import inspect

    def function(*, own: str = "x", axes: dict[str, str]) -> None:
        seen.update(axes, own=own)

    seen: dict[str, str] = {}
    command = with_lever_options(function)
    assert {"own", "batch_size", "threads"} <= set(inspect.signature(command).parameters)
    assert "axes" not in inspect.signature(command).parameters
    unset = {lever.name: None for lever in LEVERS}
    command(**{**unset, "threads": "1,2"}, own="y")
    assert seen == {"threads": "1,2", "own": "y"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run", "name a workload"),
        ("run lenot", "unknown workload 'lenot'. Did you mean 'lenet'?"),
        ("run lenet --batch-size 0", "--batch-size"),
        ("run lenet --batch-size 32,32", "given twice"),
        ("run lenet --batch-size 32,,64", "empty value"),
        ("run lenet --time-budget soon", "--time-budget cannot be 'soon'"),
        ("run lenet --within 200%", "--within cannot be '200%'"),
        ("run lenet --data-mode fast", "no data mode 'fast'"),
        ("run lenet --framework jax", "unknown framework 'jax'"),
    ],
)
def test_a_value_that_cannot_be_used_is_one_line(call: Call, words: str, message: str) -> None:
    answer = call(*words.split())
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_a_plan_file_runs_all_its_runs(call: Call, asked: list[RunOptions], tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("[[run]]\nworkload = 'lenet'\nname = 'a'\n[[run]]\nworkload = 'simplenet'\nname = 'b'\n")
    answer = call("run", "--plan", str(plan), "--json", "--force")
    assert answer.code == 0
    assert [(options.name, options.workload, options.force) for options in asked] == [
        ("a", "lenet", True),
        ("b", "simplenet", True),
    ]
    assert len(json.loads(answer.out)["studies"]) == 2


def test_beside_a_plan_only_where_and_how_can_be_said(call: Call, asked: list[RunOptions], tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("[[run]]\nworkload = 'lenet'\n")
    answer = call("run", "lenet", "--plan", str(plan), "--rounds", "3", "--threads", "2")
    assert answer.code == 2
    assert "leave out workload, axes, rounds" in answer.err
    assert asked == []


def test_a_mistake_in_the_last_run_of_a_plan_is_told_before_the_first(
    call: Call, asked: list[RunOptions], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("[[run]]\nworkload = 'lenet'\n[[run]]\nworkload = 'lenot'\n")
    assert call("run", "--plan", str(plan)).code == 2
    assert asked == []


def test_ctrl_c_shows_what_there_is_and_ends_with_130(call: Call, asked: list[RunOptions]) -> None:
    answer = call("run", "lenet", "--name", "stop")
    assert len(asked) == 1
    assert answer.code == 130


def test_a_page_that_could_not_be_written_is_told_before_an_hour_of_measuring(
    call: Call, asked: list[RunOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    answer = call("run", "lenet", "--output", "x.html")
    assert answer.code == 3
    assert asked == []


def test_a_dry_run_says_what_and_how_long_and_runs_nothing(call: Call, asked: list[RunOptions]) -> None:
    answer = call("run", "lenet", "--framework", "simulated", "--batch-size", "32,64", "--dry-run")
    assert answer.code == 0
    assert "b64" in answer.out
    assert "10 processes, about" in answer.out
    found = json.loads(call("run", "lenet", "--framework", "simulated", "--dry-run", "--json").out)
    assert found["plans"][0]["estimate"]["trials"] == 5
    assert asked == []


def test_a_run_answers_in_json_and_is_found_again(call: Call) -> None:
    answer = call("run", "lenet", *QUICK, "--batch-size", "32,64", "--name", "mine", "--force", "--json")
    assert (answer.code, answer.err) == (0, "")
    found = json.loads(answer.out)
    assert [cell["label"] for cell in found["cells"]] == ["b32", "b64"]
    assert found["finished"]
    assert "step_ns" not in found["trials"][0]
    assert json.loads(call("show", "mine", "--json").out)["trials"][0]["step_ns"]


def test_a_secret_in_the_command_never_reaches_store_or_answer(
    call: Call, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "hf_" + "q7Zk2mPw9xLr4tBv"
    words = ["run", "lenet", *QUICK, "--name", f"token={secret}", "--json"]
    monkeypatch.setattr("sys.argv", ["pacenote", *words])
    assert secret not in call(*words).out
    with Store(store_path) as store:
        study = store.get_study("last")
        assert study.command[:2] == ["pacenote", "run"]
    assert secret.encode() not in store_path.read_bytes()
