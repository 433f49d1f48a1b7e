"""What every registered workload must do, in every framework it is written for: run in a real child and be as asked."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

from pacenote.child import events, workloads
from pacenote.engines.local import LocalEngine
from pacenote.levers import LEVERS, defaults
from pacenote.records import Outcome, Status

MODULES = {"pytorch": "torch", "paddle": "paddle"}
MARKS = {"pytorch": pytest.mark.torch, "paddle": pytest.mark.paddle}
TIMEOUT_S = 120.0
STEPS = 3

PAIRS = [
    pytest.param(workload, framework, marks=MARKS[framework], id=f"{workload}-{framework}")
    for workload in workloads.names()
    for framework in sorted(workloads.find(workload).builders)
]
LOADERS = [pair for pair in PAIRS if "loader" in workloads.find(str(pair.values[0])).data_modes]
VARIANTS: list[dict[str, Any]] = [
    {"pipeline": "batched", "memory_format": "channels_last", "batch_size": 64},
    {"dtype": "bf16", "width": 2.0, "depth": 2},
    {"loader_workers": 2},
    {"pipeline": "batched", "loader_workers": 1, "allocator": "no_trim", "waiting_policy": "active"},
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


class Answers:
    """What one child said."""

    def __init__(self, ready: dict[str, Any], turn: dict[str, Any], done: dict[str, Any], outcome: Outcome) -> None:
        self.ready = ready
        self.turn = turn
        self.done = done
        self.outcome = outcome

    def kinds(self) -> list[int]:
        """Kinds of all events, in order."""
        return [code & events.KIND_MASK for code in events.unpack(self.turn["code"])]


def run(workload: str, framework: str, cache: Path, data_mode: str = "real", **levers: Any) -> Answers:
    """Run ``STEPS`` steps in a real child, with the levers as the product would set them."""
    if importlib.util.find_spec(MODULES[framework]) is None:
        pytest.skip(f"{framework} is not installed")
    asked = {**defaults(workload, {}), **levers}
    environ = dict(os.environ)
    for name, value in asked.items():
        environ.update(LEVERS.get(name).environ(value))
    job = {
        "action": "train",
        "workload": workload,
        "framework": framework,
        "device": "cpu",
        "data_mode": data_mode,
        "cache_dir": str(cache),
        "levers": asked,
    }
    child = LocalEngine().start(job, python=None, environ=environ)
    try:
        ready = child.answer("ready", TIMEOUT_S)
        child.begin_turn(0, seconds=None, steps=STEPS)
        turn = child.answer("turn", TIMEOUT_S)
        child.begin_finish()
        done, outcome = child.finish(TIMEOUT_S)
    finally:
        child.kill()
    return Answers(ready, turn, done, outcome)


def check_levers(answers: Answers, asked: dict[str, Any]) -> dict[str, bool | None]:
    return {name: LEVERS.get(name).outcome(value, answers.done["observed"]).applied for name, value in asked.items()}


@pytest.mark.parametrize(("workload", "framework"), PAIRS)
def test_it_trains_with_every_lever_seen_at_its_default(workload: str, framework: str, cache: Path) -> None:
    answers = run(workload, framework, cache)
    assert answers.outcome.status is Status.FINISHED
    assert answers.turn["steps"] == STEPS
    assert answers.done["samples_per_step"] == defaults(workload, {})["batch_size"]
    assert answers.done["flop_per_sample"] == workloads.find(workload).flop_per_sample({})
    assert answers.done["parameters"] == workloads.find(workload).parameters({})
    data = answers.ready["data"]
    assert data["source"] in ("stand-in", "in-memory"), "without --data every answer says what stood in"
    assert not os.path.isabs(data.get("path", "")), "only the last part of a path is recorded"
    applied = check_levers(answers, defaults(workload, {}))
    assert applied == dict.fromkeys(applied, True)
    kinds = answers.kinds()
    for kind in (events.FORWARD_BEGIN, events.BACKWARD_BEGIN, events.OPTIMIZER_BEGIN):
        assert kinds.count(kind) == STEPS
    assert kinds.count(events.ZERO_BEGIN) in (STEPS, STEPS - 1), (
        "Paddle users clear after the step, where the turn ends"
    )
    assert len(answers.turn["losses"]) == STEPS
    assert all(0.5 < loss < 10 for _, loss in answers.turn["losses"])


@pytest.mark.parametrize(("workload", "framework"), PAIRS)
def test_one_batch_on_the_device_needs_no_loader(workload: str, framework: str, cache: Path) -> None:
    answers = run(workload, framework, cache, data_mode="device")
    assert answers.turn["steps"] == STEPS
    assert events.DATA_BEGIN not in answers.kinds()
    assert events.COPY_BEGIN not in answers.kinds()


@pytest.mark.parametrize(("workload", "framework"), LOADERS)
def test_the_loader_alone_trains_nothing(workload: str, framework: str, cache: Path) -> None:
    answers = run(workload, framework, cache, data_mode="loader", loader_workers=1)
    kinds = answers.kinds()
    assert kinds.count(events.DATA_END) >= STEPS
    assert events.FORWARD_BEGIN not in kinds
    assert answers.done["parameters"] == 0
    assert answers.done["observed"]["loader_workers"] == 1
    assert answers.done["observed"]["batch_size"] == answers.done["samples_per_step"]


@pytest.mark.parametrize("levers", VARIANTS, ids=lambda levers: "-".join(map(str, levers.values())))
@pytest.mark.parametrize("framework", [pytest.param(name, marks=MARKS[name]) for name in MODULES])
def test_lenet_is_seen_as_asked(framework: str, levers: dict[str, Any], cache: Path) -> None:
    answers = run("lenet", framework, cache, **levers)
    applied = check_levers(answers, levers)
    expected = dict.fromkeys(levers, True)
    if framework == "paddle" and "dtype" in levers:
        expected["dtype"] = False  # auto_cast has no effect in Paddle's CPU build
        assert answers.done["observed"]["dtype"] == "fp32"
    assert applied == expected
