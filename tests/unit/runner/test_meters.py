"""The real meters, once round: what they read fits what the runner asks of them."""

from __future__ import annotations

import os

import pytest

from pacenote import environment
from pacenote.records import TrialSpec
from pacenote.runner.meters import MachineMeters, SystemClock
from pacenote.runner.setting import takes_long_turn, variables


def test_the_clock_is_the_one_children_stamp_their_events_with() -> None:
    import time

    before = time.perf_counter()
    assert before <= SystemClock().monotonic_s() <= time.perf_counter()
    assert SystemClock().unix_s() > 1.7e9


def test_one_turn_of_this_process_is_read() -> None:
    meters = MachineMeters()
    first = meters.read(os.getpid())
    sum(range(100_000))
    found = meters.difference(first, meters.read(os.getpid()))
    assert found.wall_s > 0
    assert found.child_cpu_s > 0
    assert meters.footprint(os.getpid()).rss_peak_bytes.value
    assert meters.before()["logical_cpus"]
    assert meters.available_bytes()


def test_a_watch_on_the_cpu_gives_sensors_or_reasons() -> None:
    watch = MachineMeters().watch("cpu")
    watch.begin()
    watch.end()
    found = watch.result()
    watch.close()
    for name in found.__struct_fields__:
        reading = getattr(found, name)
        assert (reading.value is None) == bool(reading.reason), name


def test_the_facts_of_the_machine_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(environment, "machine_facts", lambda: calls.append(1) or {"cpu_model": "X"})
    meters = MachineMeters()
    first = meters.environment({"name": "pytorch"}, {"OMP_NUM_THREADS": "2", "HOME": "/home/me"})
    second = meters.environment({"name": "pytorch"}, {"OMP_NUM_THREADS": "2", "HOME": "/elsewhere"})
    assert first.hash() == second.hash()
    assert first.facts["variables"] == {"OMP_NUM_THREADS": "2"}
    assert calls == [1]


@pytest.mark.parametrize(("workers", "long"), [(0, False), (1, True), (4, True), (None, False), ("2", False)])
def test_which_cells_take_one_long_turn(workers: int | str | None, long: bool) -> None:
    assert takes_long_turn(TrialSpec(workload="w", framework="f", levers={"loader_workers": workers})) is long


def test_levers_set_variables_and_another_interpreter_gets_none_of_our_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/ours")
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    spec = TrialSpec(workload="lenet", framework="pytorch", levers={"threads": 2, "not_a_lever": 1})
    found = variables(spec)
    assert (found["OMP_NUM_THREADS"], found["PYTHONPATH"]) == ("2", "/ours")
    other = TrialSpec(workload="lenet", framework="pytorch", python="/other/python", levers={"threads": 3})
    assert variables(other)["OMP_NUM_THREADS"] == "3"
    assert "PYTHONPATH" not in variables(other)
    simulated = TrialSpec(workload="lenet", framework="simulated", levers={"threads": 2})
    assert variables(simulated)["OMP_NUM_THREADS"] == "64"
