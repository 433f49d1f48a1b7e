from __future__ import annotations

import dataclasses
import os

import pytest

from pacenote.system import counters
from pacenote.system.cgroup import Throttling
from pacenote.system.process import Usage


def raw(t_s=0.0, **fields):
    return counters.RawCounters(t_s=t_s, **fields)


def test_other_load_is_what_is_left():
    before = raw(0.0, child={7: Usage(1.0)}, own_cpu_s={1: 5.0, 8: 0.5}, busy_s=100.0)
    after = raw(1.0, child={7: Usage(1.9)}, own_cpu_s={1: 5.01, 8: 0.52}, busy_s=101.5)
    found = counters.difference(before, after)
    assert found.wall_s == 1.0
    assert found.child_cpu_s == pytest.approx(0.9)
    assert found.machine_busy_s == pytest.approx(1.5)
    assert found.other_cpu_s == pytest.approx(0.57)
    assert counters.difference(before, after, own_pids=[1]).other_cpu_s == pytest.approx(0.59)


def test_a_worker_that_starts_inside_the_turn_belongs_to_the_child():
    before = raw(child={7: Usage(1.0, minor_faults=3)}, busy_s=10.0)
    after = raw(1.0, child={7: Usage(1.5, minor_faults=5), 9: Usage(0.4, minor_faults=10)}, busy_s=10.9)
    found = counters.difference(before, after)
    assert found.child_cpu_s == pytest.approx(0.9)
    assert found.other_cpu_s == pytest.approx(0.0)
    assert found.minor_faults == 12


def test_a_worker_that_ends_inside_the_turn_is_not_counted_twice():
    # It had used 30 s before; its parent's sum takes over these and the last 0.2 s.
    before = raw(child={7: Usage(1.0, minor_faults=5, voluntary_switches=9), 9: Usage(30.0, minor_faults=100)})
    after = raw(1.0, child={7: Usage(31.9, minor_faults=112, voluntary_switches=20)})
    found = counters.difference(before, after)
    assert found.child_cpu_s == pytest.approx(0.9)
    assert found.minor_faults == 7
    assert found.voluntary_switches is None


def test_a_helper_of_ours_that_ends_is_not_counted_twice():
    before = raw(own_cpu_s={1: 1.0, 5: 20.0}, busy_s=50.0)
    after = raw(1.0, own_cpu_s={1: 21.3}, busy_s=51.0)
    assert counters.difference(before, after).other_cpu_s == pytest.approx(0.7)


def test_a_count_that_went_away_is_unknown_not_negative():
    before = raw(child={7: Usage(1.0, voluntary_switches=30)})
    after = raw(child={7: Usage(1.5, voluntary_switches=10)})
    assert counters.difference(before, after).voluntary_switches is None


def test_unknown_stays_unknown():
    found = counters.difference(raw(), raw(1.0))
    assert found.child_cpu_s == 0
    for name in ("machine_busy_s", "other_cpu_s", "steal_s", "pressure_cpu_s", "throttled_s", "minor_faults"):
        assert getattr(found, name) is None


def test_nested_groups_count_once():
    before = raw(throttling={"/a": Throttling(1.0, 10), "/a/b": Throttling(2.0, 5)})
    after = raw(throttling={"/a": Throttling(1.4, 14), "/a/b": Throttling(2.1, 6)})
    found = counters.difference(before, after)
    assert (found.throttled_s, found.throttled_count) == (pytest.approx(0.4), 4)


def change(tree, before, after):
    first = counters.read(4242, tree(*before), own_pids=())
    second = counters.read(4242, tree(*before, *after), own_pids=())
    return counters.difference(dataclasses.replace(first, t_s=0.0), dataclasses.replace(second, t_s=10.0))


def test_recorded_throttling_version_1(tree):
    found = change(tree, ["v1_throttled_before"], ["v1_throttled_after"])
    assert found.throttled_count > 10
    assert found.throttled_s > 0.5
    assert 0.3 < found.child_cpu_s < 1.0  # half a CPU for 1.2 s
    assert found.machine_busy_s >= found.child_cpu_s


@pytest.mark.parametrize(("severity", "seconds", "count"), [("mild", 0.3, 6), ("moderate", 1.5, 30), ("severe", 6, 90)])
def test_throttling_version_2(tree, severity, seconds, count):
    found = change(tree, ["v2_nested"], [f"v2_throttled_{severity}"])
    assert (found.throttled_s, found.throttled_count) == (pytest.approx(seconds), count)


def test_swap_traffic(tree):
    found = change(tree, ["swap"], ["swap_mild"])
    assert found.swapped_in_bytes == 2048 * 4096
    assert found.swapped_out_bytes == 2048 * 4096


def test_thermal_throttling(tree):
    assert change(tree, ["thermal"], ["thermal_mild"]).thermal_throttle_count == 6
    assert change(tree, [], []).thermal_throttle_count is None


def test_pressure_absent(tree):
    reader = tree(without=("proc/pressure",))
    assert counters.read(4242, reader, own_pids=()).pressure_cpu_s is None


def test_live_reading_separates_child_and_own_processes():
    first = counters.read(os.getpid())
    assert os.getpid() in first.child
    assert os.getpid() not in first.own_cpu_s
    second = counters.read(2**30, own_pids=[os.getpid()])
    assert second.child == {}
    assert second.own_cpu_s[os.getpid()] > 0
