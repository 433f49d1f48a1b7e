"""Ceilings: measured once, kept, and a failure that stops nothing."""

from __future__ import annotations

from typing import Any

from scripted import FakeChild, FakeClock, FakeEngine, FakeKeeper, FakeMeters, ends_with

from pacenote.experiments import calibration
from pacenote.records import Reading, Status, TrialSpec
from pacenote.runner import Parts, progress

ANSWER = {
    "ceilings": {
        "gemm_flops": {"fp32": 1e9, "bf16": None},
        "triad_bytes_per_s": 2e10,
        "reasons": {"gemm_flops.bf16": "dtype_unsupported"},
    },
    "framework": {"version": "2"},
}


class CalibratingChild(FakeChild):
    def answer(self, kind: str, timeout_s: float) -> dict[str, Any]:
        assert kind == "calibration"
        self._moment("calibration")
        return ANSWER


class CalibratingEngine(FakeEngine):
    def start(self, job: dict[str, Any], *, python: str | None, environ: dict[str, str]) -> FakeChild:
        self.children.append(CalibratingChild(self, len(self.children) + 1, job, environ))
        return self.children[-1]


class Shelf:
    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}

    def get_calibration(self, key: str, max_age_s: float | None = None) -> dict[str, Any] | None:
        return self.kept.get(key)

    def put_calibration(self, key: str, ceilings: dict[str, Any], measured_unix_s: float | None = None) -> None:
        self.kept[key] = ceilings


def spec(framework: str = "pytorch", **levers: Any) -> TrialSpec:
    return TrialSpec(workload="lenet", framework=framework, levers={"threads": 2, "dtype": "fp32", **levers})


def parts() -> tuple[CalibratingEngine, Parts, list[progress.Event]]:
    clock, told = FakeClock(), list[progress.Event]()
    engine = CalibratingEngine(clock)
    made = Parts(engine=engine, keeper=FakeKeeper(), meters=FakeMeters(clock), clock=clock, tell=told.append)
    return engine, made, told


def test_one_child_serves_all_batch_sizes_and_the_next_study() -> None:
    engine, made, told = parts()
    shelf = Shelf()
    specs = [spec(batch_size=32), spec(batch_size=256), spec("paddle", batch_size=32)]
    find = calibration.ceilings_of(specs, shelf, made, machine={"machine_id": "m"})
    assert [(child.job["framework"], child.job["action"]) for child in engine.children] == [
        ("pytorch", "calibrate"),
        ("paddle", "calibrate"),
    ]
    assert find(specs[1]).flops == Reading(value=1e9, method="measured")
    assert find(specs[1]).bytes_per_s == Reading(value=2e10, method="measured")
    assert len(told) == 2
    calibration.ceilings_of(specs, shelf, made, machine={"machine_id": "m"})
    assert len(engine.children) == 2
    assert not any(child.alive for child in engine.children)


def test_another_quota_is_another_ceiling() -> None:
    engine, made, _ = parts()
    shelf = Shelf()
    for quota in (1, 2):
        calibration.ceilings_of([spec()], shelf, made, machine={"quota_cpus": quota})
    assert len(engine.children) == 2


def test_a_dtype_without_a_ceiling_says_why() -> None:
    _, made, _ = parts()
    find = calibration.ceilings_of([spec(dtype="bf16")], Shelf(), made, machine={})
    assert find(spec(dtype="bf16")).flops == Reading(reason="dtype_unsupported")


def test_a_failed_calibration_is_a_reason_and_is_not_kept() -> None:
    engine, made, _ = parts()
    engine.failures["pytorch"] = ends_with(Status.OUT_OF_MEMORY, "calibration")
    shelf = Shelf()
    find = calibration.ceilings_of([spec(), spec(batch_size=8)], shelf, made, machine={})
    assert find(spec()).flops == Reading(reason="calibration_out_of_memory")
    assert shelf.kept == {}
    assert len(engine.children) == 1


def test_nothing_is_measured_for_what_has_no_ceiling() -> None:
    engine, made, _ = parts()
    loader = TrialSpec(workload="lenet", framework="pytorch", data_mode="loader")
    find = calibration.ceilings_of([loader, spec("simulated")], Shelf(), made, machine={})
    assert engine.children == []
    assert find(loader).flops == Reading(reason="not_calibrated")
