"""Who used the CPU: the child with its workers, ourselves, or somebody else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from composed import Machine, deny

from pacenote.records import Counters
from pacenote.system import counters
from pacenote.system.load import TICK_S

OWN = os.getpid()
CHILD = OWN + 1_000_000
WORKER, SECOND, HELPER, RESTING = (CHILD + number for number in range(1, 5))

Make = Callable[[], Machine]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    made: list[Machine] = []

    def begin() -> Machine:
        made.append(Machine(tmp_path / str(len(made))))
        return made[-1]

    return begin


def busy(machine: Machine, ticks: int, steal: int = 0) -> Machine:
    return machine.file("/proc/stat", f"cpu  {ticks} 0 0 500 0 0 0 {steal} 0 0\ncpu0 1\n")


def between(first: Machine, second: Machine, **options: Any) -> Counters:
    return counters.difference(
        counters.read(CHILD, first.reader, **options), counters.read(CHILD, second.reader, **options)
    )


def test_the_child_its_workers_and_our_own_are_told_apart(make: Make) -> None:
    """We are above the child; a helper of ours and another child at rest are not part of its tree."""
    readings = []
    for step in range(2):
        machine = busy(make(), 1000 + 300 * step)
        machine.process(OWN, children=(CHILD, HELPER, RESTING), ticks=10 + 5 * step)
        machine.process(CHILD, children=(WORKER,), ticks=100 + 120 * step)
        machine.process(WORKER, ticks=50 + 60 * step)
        machine.process(HELPER, ticks=7 + 3 * step).process(RESTING, ticks=400)
        readings.append(machine)
    raw = counters.read(CHILD, readings[0].reader)
    assert sorted(raw.child) == [CHILD, WORKER]
    assert sorted(raw.own_cpu_s) == sorted([OWN, HELPER, RESTING])
    found = between(*readings)
    assert found.child_cpu_s == pytest.approx(180 * TICK_S)
    assert found.machine_busy_s == pytest.approx(300 * TICK_S)
    assert found.other_cpu_s == pytest.approx((300 - 180 - 5 - 3) * TICK_S)


def test_own_processes_may_be_named(make: Make) -> None:
    readings = []
    for step in range(2):
        machine = busy(make(), 1000 + 100 * step).process(CHILD, ticks=10 + 60 * step)
        readings.append(machine.process(HELPER, ticks=5 + 30 * step))
    assert between(*readings, own_pids=[HELPER]).other_cpu_s == pytest.approx(10 * TICK_S)
    assert between(*readings, own_pids=[]).other_cpu_s == pytest.approx(40 * TICK_S)


def test_a_measured_child_named_as_our_own_is_still_the_childs(make: Make) -> None:
    machine = busy(make(), 100).process(CHILD)
    raw = counters.read(CHILD, machine.reader, own_pids=[CHILD, HELPER])
    assert raw.own_cpu_s == {}
    assert list(raw.child) == [CHILD]


def test_a_worker_that_ended_and_was_waited_for_is_counted_once(make: Make) -> None:
    first = busy(make(), 1000).process(CHILD, children=(WORKER,), ticks=100, minor=10)
    first.process(WORKER, ticks=300, minor=40)
    second = busy(make(), 1050).process(CHILD, ticks=120, ended_ticks=310, minor=12, minor_ended=45)
    found = between(first, second, own_pids=[])
    assert found.child_cpu_s == pytest.approx((120 + 310 - 400) * TICK_S)
    assert found.minor_faults == 12 + 45 - 50
    assert found.voluntary_switches is None  # the kernel does not hand these on


def test_a_worker_that_was_never_waited_for_takes_its_past_along(make: Make) -> None:
    """Its CPU time is gone from the tree: the sum shrinks, and a negative use is not reported."""
    first = busy(make(), 1000).process(CHILD, children=(WORKER,), ticks=100).process(WORKER, ticks=300, minor=40)
    second = busy(make(), 1050).process(CHILD, ticks=120)
    found = between(first, second, own_pids=[])
    assert found.child_cpu_s == 0.0
    assert found.minor_faults is None


def test_workers_that_start_belong_to_the_child_from_their_first_tick(make: Make) -> None:
    first = busy(make(), 1000).process(CHILD, ticks=100)
    second = busy(make(), 1080).process(CHILD, children=(WORKER, SECOND), ticks=120)
    second.process(WORKER, ticks=30).process(SECOND, ticks=30)
    found = between(first, second, own_pids=[])
    assert found.child_cpu_s == pytest.approx(80 * TICK_S)
    assert found.other_cpu_s == pytest.approx(0.0)
    assert found.voluntary_switches == 14


def test_a_child_that_is_gone_used_nothing_we_know_of(make: Make) -> None:
    found = between(busy(make(), 1000).process(CHILD), busy(make(), 1010), own_pids=[])
    assert found.child_cpu_s == 0.0
    assert found.minor_faults is None


def test_steal_and_busy_are_apart(make: Make) -> None:
    found = between(busy(make(), 100, 10).process(CHILD), busy(make(), 150, 35).process(CHILD), own_pids=[])
    assert found.steal_s == pytest.approx(25 * TICK_S)
    assert found.machine_busy_s == pytest.approx(50 * TICK_S)


@pytest.mark.parametrize("missing", ["/proc/stat", "/proc/pressure/cpu", "/proc/vmstat"])
def test_a_file_that_vanishes_between_the_readings_is_an_unknown(
    make: Make, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    machine = busy(make(), 100).process(CHILD).file("/proc/pressure/cpu", "some avg10=0.00 total=5\n")
    machine.file("/proc/vmstat", "pswpin 1\npswpout 1\n")
    before = counters.read(CHILD, machine.reader, own_pids=[])
    deny(monkeypatch, lambda path: path.endswith(missing))
    found = counters.difference(before, counters.read(CHILD, machine.reader, own_pids=[]))
    unknown = {
        "/proc/stat": {"machine_busy_s", "other_cpu_s", "steal_s"},
        "/proc/pressure/cpu": {"pressure_cpu_s"},
        "/proc/vmstat": {"swapped_in_bytes", "swapped_out_bytes"},
    }
    every = set().union(*unknown.values())
    assert {name for name in every if getattr(found, name) is None} == unknown[missing]


def test_a_group_that_appears_between_the_readings_is_not_compared(make: Make) -> None:
    stat = "/sys/fs/cgroup{}/cpu.stat"
    readings = []
    for text in ("nr_throttled 1\nthrottled_usec 1000000\n", "nr_throttled 3\nthrottled_usec 1500000\n"):
        machine = make().process(CHILD).mount("cgroup2", "/sys/fs/cgroup").groups("0::/job/step", pid=CHILD)
        readings.append(machine.file(stat.format("/job"), text))
    readings[1].file(stat.format("/job/step"), "nr_throttled 90\nthrottled_usec 90000000\n")
    found = between(*readings, own_pids=[])
    assert (found.throttled_s, found.throttled_count) == (pytest.approx(0.5), 2)
