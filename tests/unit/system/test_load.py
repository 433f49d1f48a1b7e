from __future__ import annotations

import pytest

from pacenote.system import load
from pacenote.system.reader import Reader


def test_busy_leaves_out_idle_iowait_and_steal(tree):
    reader = tree()
    with open(f"{reader.root}/proc/stat", "w") as stream:
        stream.write("cpu  100 20 30 4000 500 6 7 80 50 0\n")
    busy_s, steal_s = load.busy_and_steal_s(reader)
    assert busy_s == pytest.approx(163 * load.TICK_S)
    assert steal_s == pytest.approx(80 * load.TICK_S)


def test_pressure(tree):
    reader = tree()
    with open(f"{reader.root}/proc/pressure/cpu", "w") as stream:
        stream.write(
            "some avg10=12.50 avg60=1.60 avg300=0.78 total=8269020\nfull avg10=0.00 avg60=0 avg300=0 total=4\n"
        )
    assert load.pressure(reader, "cpu") == {
        "some_s": pytest.approx(8.26902),
        "some_avg10_share": 0.125,
        "full_s": pytest.approx(4e-6),
        "full_avg10_share": 0.0,
    }


def test_pressure_absent(tree):
    assert load.pressure(tree(without=("proc/pressure",)), "cpu") == {}


def test_swap_in_use(tree):
    reader = tree("swap")
    found = load.memory(reader)
    assert found["swap_total_bytes"] == 4194300 * 1024
    assert found["swap_used_bytes"] == (4194300 - 3670012) * 1024
    assert load.swapped_bytes(reader) == (100200 * load.PAGE_BYTES, 131072 * load.PAGE_BYTES)


def test_queue(tree):
    found = load.queue(tree())
    assert found["load_1min"] >= 0
    assert found["running_tasks"] >= 1


def test_nothing_known_is_none(tmp_path):
    reader = Reader(tmp_path)
    assert load.busy_and_steal_s(reader) == (None, None)
    assert load.swapped_bytes(reader) == (None, None)
    assert set(load.memory(reader).values()) == {None}
    assert load.queue(reader) == {"load_1min": None, "running_tasks": None}
