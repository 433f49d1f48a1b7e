"""Switches of the process, and what is seen when there is no framework to look with."""

from __future__ import annotations

import os
import types
from typing import Any

import pytest

from pacenote.child import lever_hooks
from pacenote.child.workloads import Training


class Adapter:
    """An adapter that notes what it was told."""

    name = "other"

    def __init__(self) -> None:
        self.threads = 7

    def set_threads(self, count: int) -> None:
        self.threads = count

    def get_threads(self) -> int:
        return self.threads


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_WAIT_POLICY", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "LD_PRELOAD"):
        monkeypatch.delenv(name, raising=False)


def observe(**levers: Any) -> dict[str, Any]:
    adapter = Adapter()
    lever_hooks.apply(adapter, levers)
    return lever_hooks.observe(adapter, Training(lambda: None, samples_per_step=1, data={}), levers)


def test_threads_are_set_when_asked_and_read_back() -> None:
    assert observe(threads=3)["threads"] == 3
    assert observe()["threads"] == 7


def test_what_cannot_be_seen_has_no_key() -> None:
    assert not {"dtype", "batch_size", "width"} & set(observe(dtype="bf16", batch_size=4, width=2.0))


@pytest.mark.parametrize(("value", "seen"), [("passive", "passive"), ("ACTIVE", "active"), ("odd", "default")])
def test_the_waiting_policy_is_read_from_the_environment(
    value: str, seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert observe()["waiting_policy"] == "default"
    monkeypatch.setenv("OMP_WAIT_POLICY", value)
    assert observe()["waiting_policy"] == seen


def test_no_trim_is_seen_only_where_glibc_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lever_hooks.sys, "platform", "linux")
    monkeypatch.setattr(lever_hooks, "_is_glibc", lambda: True)
    assert observe()["allocator"] == "default"
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1")
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", "1")
    assert observe()["allocator"] == "no_trim"
    monkeypatch.setenv("LD_PRELOAD", "libjemalloc.so")
    assert observe()["allocator"] == "default"
    monkeypatch.setattr(lever_hooks, "_is_glibc", lambda: False)
    assert "allocator" not in observe()


def test_a_platform_without_confstr_is_no_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> str:
        raise ValueError(name)

    monkeypatch.setattr(os, "confstr", unknown, raising=False)
    assert not lever_hooks._is_glibc()


@pytest.mark.parametrize(("parameters", "seen"), [(10, True), (11, False)])
def test_width_and_depth_are_seen_in_the_parameter_count(
    parameters: int, seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = types.SimpleNamespace(set_precision=lambda dtype: None, look=lambda training: {"dtype": "fp32"})
    monkeypatch.setattr(lever_hooks, "_loop", lambda framework: loop)
    adapter = Adapter()
    adapter.name = "pytorch"
    training = Training(
        lambda: None, samples_per_step=1, data={}, model=object(), parameters=parameters, expected_parameters=10
    )
    found = lever_hooks.observe(adapter, training, {"width": 2.0})
    assert (found.get("width") == 2.0 and found.get("depth") == 1) is seen
    assert found["dtype"] == "fp32"
