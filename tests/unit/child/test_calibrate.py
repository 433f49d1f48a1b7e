"""Ceilings: arithmetic on a clock of our own, and one short real look per framework elsewhere."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest

from pacenote.child import calibrate

FLOPS = {"fp32": 4e10, "bf16": 2e11, "fp16": 1e9}
BYTES_PER_S = 2e10
LAUNCH_S = 5e-6


class Clock:
    """Time that passes only when work is done."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def perf_counter(self) -> float:
        return self.now_s


class Operations:
    """A machine of known speed; the first call of each operation is slow."""

    clock: Clock

    def __init__(self, device: str) -> None:
        self.device = device

    def unavailable(self, dtype: str) -> str:
        return "no_tf32_here" if dtype == "tf32" else ""

    def gemm(self, size: int, dtype: str) -> Callable[[], None]:
        if dtype == "int4":
            raise TypeError("no such product")
        if dtype == "huge":
            raise MemoryError
        return self._work(2.0 * size**3 / FLOPS[dtype])

    def triad(self, items: int) -> Callable[[], None]:
        return self._work(12.0 * items / BYTES_PER_S)

    def _work(self, work_s: float) -> Callable[[], None]:
        calls = [0]

        def work() -> None:
            calls[0] += 1
            self.clock.now_s += (work_s + LAUNCH_S) * (10 if calls[0] == 1 else 1)

        return work


class Adapter:
    """Waits at once, and knows its memory error."""

    name = "fake"

    def synchronize(self, device: str) -> None:
        return None

    def is_out_of_memory(self, error: BaseException) -> bool:
        return isinstance(error, MemoryError)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    Operations.clock = made
    monkeypatch.setattr(calibrate, "time", made)
    monkeypatch.setattr(calibrate.importlib, "import_module", lambda name: types.SimpleNamespace(Operations=Operations))
    return made


def ceilings(*dtypes: str, device: str = "cpu") -> dict[str, Any]:
    return calibrate.ceilings(Adapter(), device, 2, dtypes)


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_the_speed_of_the_machine_is_found(clock: Clock, device: str) -> None:
    found = ceilings("fp32", "bf16", device=device)
    assert found["gemm_flops"]["fp32"] == pytest.approx(FLOPS["fp32"], rel=0.03)
    assert found["gemm_flops"]["bf16"] == pytest.approx(FLOPS["bf16"], rel=0.03)
    assert found["triad_bytes_per_s"] == pytest.approx(BYTES_PER_S, rel=0.03)
    assert (found["threads"], found["device"], found["reasons"]) == (2, device, {})


def test_a_rate_is_never_above_the_truth(clock: Clock) -> None:
    assert ceilings("fp32")["gemm_flops"]["fp32"] <= FLOPS["fp32"]


def test_it_takes_at_most_three_seconds(clock: Clock) -> None:
    found = ceilings("fp32", "bf16", "fp16")
    assert found["took_s"] == pytest.approx(clock.now_s)
    assert clock.now_s <= 3.0


def test_what_cannot_be_multiplied_is_none_with_a_reason(clock: Clock) -> None:
    found = ceilings("tf32", "int4")
    assert found["gemm_flops"] == {"tf32": None, "int4": None}
    assert found["reasons"] == {"gemm_flops.tf32": "no_tf32_here", "gemm_flops.int4": "dtype_unsupported"}


def test_out_of_memory_is_not_taken_for_an_unsupported_dtype(clock: Clock) -> None:
    with pytest.raises(MemoryError):
        ceilings("huge")
