"""The probe on programs in the styles people write: every optimizer step is found, with what belongs to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).with_name("probed_programs.py")
SOURCE = Path(__file__).parents[2] / "src"

MODEL_AND_LOSS = [["module", "Sequential"], ["module", "CrossEntropyLoss"]]

# Per step after the first: data, forward, loss, backward, optimizer calls. The first step also opens the loader, and
# its loss is not known yet when it is called for the first time.
EXPECTED = {
    "torch_plain": (1, 1, 1, 1, 1),
    "torch_accumulation": (2, 2, 2, 2, 1),
    "torch_two_models": (1, 2, 2, 2, 2),
    "torch_closure": (1, 2, 2, 2, 1),
    "torch_saved": (1, 1, 1, 1, 1),
    "paddle_plain": (1, 1, 1, 1, 1),
    "paddle_minimize": (1, 1, 1, 1, 1),
    "paddle_subclass": (1, 1, 1, 1, 1),
    "paddle_fit": (1, 1, 1, 1, 1),
}


def run(name: str) -> dict[str, Any]:
    framework = name.partition("_")[0]
    if find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(PROGRAMS), name],
        env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.torch if name.startswith("torch") else pytest.mark.paddle)
        for name in EXPECTED
    ],
)
def test_every_step_is_found_with_its_parts(name: str) -> None:
    seen = run(name)
    assert seen["steps"] == 6
    assert seen["anchor"] == "optimizer"
    assert not any(seen["evaluation"])
    parts = ("data_wait", "forward", "loss", "backward", "optimizer")
    later = [tuple(seen["counts"][part][step] for part in parts) for step in range(1, 6)]
    assert later == [EXPECTED[name]] * 5
    assert seen["counts"]["copy"] == [0] * 6
    assert all(thing in seen["objects"] for thing in MODEL_AND_LOSS)


@pytest.mark.torch
def test_a_step_that_holds_a_validation_pass_is_told_apart() -> None:
    seen = run("torch_validation")
    assert seen["steps"] == 6
    assert seen["evaluation"] == [False, False, False, True, False, False]
