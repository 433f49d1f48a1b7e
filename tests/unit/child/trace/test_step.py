from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from pacenote.child.trace.step import Program, Subject, trace  # noqa: E402 - needs torch

WIDTH, BATCH = 64, 8
WEIGHT_BYTES = WIDTH * WIDTH * 4


def traced(**program: Any) -> dict[str, Any]:
    subject = Subject(
        lambda: torch.nn.Linear(WIDTH, WIDTH, bias=False), lambda: (torch.empty(BATCH, WIDTH),), None, BATCH
    )
    return trace("linear", subject, Program(**program))


def flop(document: dict[str, Any]) -> float:
    return float(sum(one["flop"] * one["count"] for one in document["operations"]))


def test_a_linear_layer_costs_its_two_products() -> None:
    # The gradient of the input is asked for by nobody.
    assert flop(traced()) == 2 * 2 * BATCH * WIDTH * WIDTH
    assert flop(traced(train=False)) == 2 * BATCH * WIDTH * WIDTH


def test_the_optimizer_sees_its_states_and_memory_counts_them() -> None:
    plain, adam = traced(optimizer="sgd-plain"), traced(optimizer="adamw")
    assert adam["peak_bytes"]["forward"] - plain["peak_bytes"]["forward"] >= 2 * WEIGHT_BYTES
    assert not any(one["phase"] == "optimizer" for one in traced(optimizer="none")["operations"])


def test_autocast_adds_conversions_and_halves_the_products() -> None:
    found = {(one["name"], one["dtype"]) for one in traced(dtype="fp16")["operations"]}
    assert ("mm", "fp16") in found
    assert ("_to_copy", "fp16") in found


def test_no_trace_names_a_device() -> None:
    document = traced()
    assert document["parameters"] == WIDTH * WIDTH
    assert "device" not in document
