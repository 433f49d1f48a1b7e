"""Plan files are checked like commands, and the ones in the repository can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacenote.errors import UnknownNameError, UsageError
from pacenote.planfile import read

PLANS = sorted((Path(__file__).resolve().parents[2] / "plans").glob("*.toml"))


def write(folder: Path, content: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_plans_of_the_repository_can_be_read(path: Path) -> None:
    runs = read(path)
    names = [run.name for run in runs]
    assert all(names)
    assert len(set(names)) == len(names)


def test_a_run_takes_the_same_defaults_as_a_command(tmp_path: Path) -> None:
    [run] = read(write(tmp_path, "[[run]]\nworkload = 'lenet'"))
    assert run.workload == "lenet"
    assert run.axes == {}
    assert (run.rounds, run.time_budget_s, run.within, run.data_mode) == (5, 180.0, None, "real")


def test_levers_read_their_values(tmp_path: Path) -> None:
    [run] = read(write(tmp_path, "[[run]]\nworkload = 'lenet'\nlevers = { batch_size = [32, '256'] }\nturns = 3"))
    assert run.axes == {"batch_size": [32, 256]}
    assert run.effort.turns == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "run"),
        ("run = []", r"no \[\[run\]\]"),
        ("[[run]]\nname = 'x'", "workload"),
        ("[[run]]\nworkload = 'lenet'\nbatchsize = 3", "batchsize"),
        ("[[run]]\nworkload = 3", "str"),
        ("[[run", "not usable"),
    ],
)
def test_what_is_no_plan_says_where(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        read(write(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_a_plan_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8"):
        read(tmp_path / "binary.toml")


def test_an_unknown_lever_lists_the_known(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="batch_size"):
        read(write(tmp_path, "[[run]]\nworkload = 'lenet'\nlevers = { bach_size = [1] }"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rounds = 0", ">= 1"),
        ("turns = 0", ">= 1"),
        ("turn_s = 0", "> 0"),
        ("warmup_s = -1", ">= 0"),
        ("time_budget_s = -60", "> 0"),
        ("within = 0", "> 0"),
        ("within = 2", "< 1"),
        ("seed = 'x'", "seed"),
        ("frameworks = 'pytorch'", "frameworks"),
        ("round = 3", "round"),
    ],
)
def test_a_value_that_no_command_would_take_is_refused(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(UsageError, match="is not usable") as refused:
        read(write(tmp_path, f"[[run]]\nworkload = 'lenet'\n{line}"))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("line", ["within = 0.02", "warmup_s = 0", "time_budget_s = 1", "rounds = 1", "turns = 1"])
def test_the_smallest_sensible_values_are_taken(tmp_path: Path, line: str) -> None:
    [run] = read(write(tmp_path, f"[[run]]\nworkload = 'lenet'\n{line}"))
    assert run.workload == "lenet"
