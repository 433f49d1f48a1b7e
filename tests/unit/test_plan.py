"""Cells, labels, hashes, jobs and estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pacenote import plan
from pacenote.child import protocol
from pacenote.errors import UsageError
from pacenote.records import Cell, Effort, Scalar, TrialSpec

FRAMEWORKS = ["pytorch", "paddle"]
DEVICES = {"pytorch": ["cpu"], "paddle": ["cpu"]}


def build(
    levers: dict[str, Sequence[Scalar]],
    frameworks: Sequence[str] = FRAMEWORKS,
    devices: dict[str, list[str]] | None = None,
    **options: Any,
) -> tuple[list[Cell], list[str]]:
    asked = plan.RunOptions(workload="lenet", **options)
    return plan.build_cells(asked, frameworks=frameworks, devices=devices or DEVICES, levers=levers)


def test_all_axes_are_crossed_and_labels_name_what_varies() -> None:
    cells, axes = build({"batch_size": [32, 256], "threads": [2]})
    assert axes == ["framework", "batch_size"]
    assert [cell.label for cell in cells] == ["pytorch b32", "pytorch b256", "paddle b32", "paddle b256"]
    assert all(cell.spec.levers["threads"] == 2 for cell in cells)


def test_one_cell_is_named_by_its_framework() -> None:
    cells, axes = build({"batch_size": [32]}, frameworks=["paddle"])
    assert ([cell.label for cell in cells], axes) == (["paddle"], [])


def test_frameworks_may_have_different_devices() -> None:
    cells, axes = build({}, devices={"pytorch": ["cpu", "cuda:0"], "paddle": ["cpu"]})
    assert [cell.label for cell in cells] == ["pytorch cpu", "pytorch cuda:0", "paddle cpu"]
    assert axes == ["framework", "device"]


@pytest.mark.parametrize(
    ("lever", "value", "label"),
    [
        ("dtype", "bf16", "bf16"),
        ("width", 2.0, "width2"),
        ("width", 1.5, "width1.5"),
        ("loader_workers", 0, "w0"),
        ("strange", True, "strange=True"),
    ],
)
def test_lever_labels(lever: str, value: Scalar, label: str) -> None:
    spec = TrialSpec(workload="lenet", framework="pytorch", levers={lever: value})
    assert plan.label(spec, [lever]) == label


def test_labels_are_unique() -> None:
    cells, _ = build({"batch_size": [1, 2], "dtype": ["fp32", "bf16"], "threads": [1, 2]})
    assert len({cell.label for cell in cells}) == len(cells) == 16


def test_a_value_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="twice"):
        build({"batch_size": [32, 32]})


def test_nothing_to_run_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing to run"):
        build({}, frameworks=[])


def test_an_unknown_data_mode_lists_the_known() -> None:
    with pytest.raises(UsageError, match="real, device, loader"):
        build({}, data_mode="virtual")


def test_equal_numbers_do_not_vary_and_true_is_not_one() -> None:
    specs = [TrialSpec(workload="w", framework="f", levers={"x": value}) for value in (1, 1.0)]
    assert plan.varying(specs) == []
    specs = [TrialSpec(workload="w", framework="f", levers={"x": value}) for value in (1, True)]
    assert plan.varying(specs) == ["x"]


def test_the_plan_hash_holds_what_makes_rounds_comparable() -> None:
    cells, _ = build({"batch_size": [32]})
    others, _ = build({"batch_size": [64]})
    base = plan.plan_hash(cells, Effort())
    assert plan.plan_hash(list(cells), Effort()) == base
    changed = [
        plan.plan_hash(others, Effort()),
        plan.plan_hash(cells, Effort(turn_s=0.5)),
        plan.plan_hash(cells, Effort(), "selftest"),
        plan.plan_hash(cells[:1], Effort()),
        plan.plan_hash(cells[::-1], Effort()),
    ]
    assert base not in changed
    assert len(set(changed)) == 5


def test_a_job_says_the_spec_in_the_protocols_words() -> None:
    spec = TrialSpec(
        workload="lenet", framework="paddle", device="cuda:0", levers={"batch_size": 8}, planted_slowdown_ratio=1.1
    )
    job = plan.job(spec, cache_dir="/cache")
    assert job["device"] == "gpu:0"
    assert (job["levers"], job["planted_slowdown_ratio"], job["cache_dir"]) == ({"batch_size": 8}, 1.1, "/cache")
    assert {key for key in job if f'"{key}"' not in (protocol.__doc__ or "")} <= {"cache_dir"}


@pytest.mark.parametrize("device", ["cpu", "cuda:0", "xpu"])
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_device_names_go_there_and_back(framework: str, device: str) -> None:
    assert plan.common_device_name(plan.device_name(device, framework)) == device


def test_the_estimate_counts_every_trial() -> None:
    cells, _ = build({"batch_size": [32, 256]})
    effort = Effort(warmup_s=0.5, turn_s=0.25, turns=6)
    estimate = plan.expect(cells, effort, 5)
    assert (estimate.cells, estimate.trials) == (4, 20)
    assert estimate.total_s == 5 * estimate.round_s
    assert estimate.round_s > 4 * plan.measured_s(effort) == 8.0
    assert estimate.total_s < 180


def test_an_estimate_knows_that_a_number_of_steps_has_no_length() -> None:
    cells, _ = build({"batch_size": [32]})
    assert plan.expect(cells, Effort(max_steps=100), 1).total_s > 0
