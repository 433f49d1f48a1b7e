"""Levers: what they accept, their defaults, and how an observation is judged."""

from __future__ import annotations

from typing import Any

import pytest

from pacenote.errors import UnknownNameError, UsageError
from pacenote.levers import LEVERS, defaults, find_workload, of_workload
from pacenote.levers.allocator import is_glibc


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("batch_size", "32", 32),
        ("batch_size", " 1 ", 1),
        ("threads", "2", 2),
        ("loader_workers", "0", 0),
        ("dtype", "BF16", "bf16"),
        ("memory_format", "channels_last", "channels_last"),
        ("pipeline", "batched", "batched"),
        ("width", "0.5", 0.5),
        ("width", "4", 4.0),
        ("depth", "3", 3),
        ("waiting_policy", "active", "active"),
        ("allocator", "no_trim", "no_trim"),
    ],
)
def test_a_sensible_value_is_read(name: str, text: str, value: Any) -> None:
    parsed = LEVERS.get(name).parse(text)
    assert (parsed, type(parsed)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("batch_size", "0"),
        ("batch_size", "-1"),
        ("batch_size", "1.5"),
        ("batch_size", ""),
        ("batch_size", "1000001"),
        ("threads", "0"),
        ("loader_workers", "-1"),
        ("dtype", "fp8"),
        ("width", "0"),
        ("width", "-2"),
        ("width", "nan"),
        ("width", "inf"),
        ("width", "wide"),
        ("depth", "0"),
        ("waiting_policy", "sleepy"),
    ],
)
def test_nonsense_is_a_usage_error_that_names_the_option(name: str, text: str) -> None:
    lever = LEVERS.get(name)
    with pytest.raises(UsageError, match=f"^{lever.option} "):
        lever.parse(text)


@pytest.mark.parametrize(
    ("machine", "threads"),
    [
        ({"quota_cpus": None, "physical_cores": 8, "affinity_cpus": 16}, 8),
        ({"quota_cpus": 2.5, "physical_cores": 8, "affinity_cpus": 16}, 2),
        ({"quota_cpus": 0.5, "physical_cores": 8, "affinity_cpus": 16}, 1),
        ({"quota_cpus": None, "physical_cores": 8, "affinity_cpus": 3}, 3),
        ({}, 1),
    ],
)
def test_default_threads_are_the_smallest_limit(machine: dict[str, Any], threads: int) -> None:
    assert LEVERS.get("threads").default(machine, "lenet") == threads


def test_defaults_of_a_workload_are_the_articles() -> None:
    assert defaults("lenet", {"physical_cores": 4}) == {
        "batch_size": 32,
        "threads": 4,
        "loader_workers": 0,
        "dtype": "fp32",
        "memory_format": "default",
        "pipeline": "tutorial",
        "width": 1.0,
        "depth": 1,
        "waiting_policy": "passive",
        "allocator": "no_trim" if is_glibc() else "default",
    }
    assert defaults("simplenet", {})["batch_size"] == 64


def test_an_unknown_workload_lists_the_known() -> None:
    with pytest.raises(UnknownNameError, match="lenet, simplenet"):
        find_workload("lenett")


def test_a_lever_that_does_not_apply_is_not_listed() -> None:
    assert "memory_format" not in [lever.name for lever in of_workload("simplenet")]


def test_threads_reach_every_runtime_before_it_starts() -> None:
    assert LEVERS.get("threads").environ(3) == {
        "OMP_NUM_THREADS": "3",
        "MKL_NUM_THREADS": "3",
        "OPENBLAS_NUM_THREADS": "3",
    }


def test_environment_levers_set_nothing_by_default() -> None:
    assert LEVERS.get("waiting_policy").environ("default") == {}
    assert LEVERS.get("allocator").environ("default") == {}
    assert LEVERS.get("waiting_policy").environ("passive")["OMP_WAIT_POLICY"] == "passive"
    assert LEVERS.get("waiting_policy").environ("passive")["GOMP_SPINCOUNT"] == "300"
    assert "GOMP_SPINCOUNT" not in LEVERS.get("waiting_policy").environ("active")
    assert LEVERS.get("waiting_policy").environ("active")["OMP_WAIT_POLICY"] == "active"


def test_glibc_accepts_the_thresholds() -> None:
    """mallopt refuses an mmap threshold above half a heap: 32 MiB on 64 bits."""
    assert int(LEVERS.get("allocator").environ("no_trim")["MALLOC_MMAP_THRESHOLD_"]) <= 32 << 20


@pytest.mark.parametrize(
    ("name", "asked", "observed", "applied", "reason"),
    [
        ("dtype", "bf16", {"dtype": "bf16"}, True, ""),
        ("dtype", "bf16", {"dtype": "fp32"}, False, "autocast_no_effect"),
        ("dtype", "tf32", {"dtype": "fp32"}, False, "no_tf32_here"),
        ("dtype", "bf16", {}, None, "not_observable"),
        ("width", 2, {"width": 2.0}, True, ""),
        ("threads", 4, {"threads": 1}, False, "no_effect"),
        ("allocator", "no_trim", {"allocator": "default"}, False, "allocator_replaced"),
        ("allocator", "no_trim", {}, None, "not_observable"),
    ],
)
def test_an_observation_is_judged(
    name: str, asked: Any, observed: dict[str, Any], applied: bool | None, reason: str
) -> None:
    outcome = LEVERS.get(name).outcome(asked, observed)
    assert (outcome.applied, outcome.reason) == (applied, reason)
    assert outcome.observed == observed.get(name)
