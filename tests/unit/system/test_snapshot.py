from __future__ import annotations

import json
import re

import pytest

from pacenote.system.snapshot import snapshot


def test_every_documented_key_and_no_other(tree):
    documented = set(re.findall(r"``([a-z_0-9]+)``", snapshot.__doc__ or "")) - {"None"}
    assert set(snapshot(tree())) == documented


@pytest.mark.parametrize("trees", [(), ("v2_nested",), ("swap",), ("thermal",), ("smt",)])
def test_is_plain_json(tree, trees):
    found = snapshot(tree(*trees))
    assert json.loads(json.dumps(found)) == found


def test_sick_machine_shows(tree):
    found = snapshot(tree("v2_nested", "swap", "thermal", "thermal_severe"))
    assert found["quota_cpus"] == 1.5
    assert found["throttled_count"] == 310
    assert found["swap_used_bytes"] > 0
    assert found["cpu_temperature_c"] == found["cpu_critical_c"] == 100.0
    assert found["cpu_clock_hz"] / found["cpu_clock_max_hz"] < 0.2


def test_without_pressure_files(tree):
    found = snapshot(tree(without=("proc/pressure",)))
    assert found["pressure_cpu_share"] is None


def test_empty_tree_knows_nothing(tree):
    found = snapshot(tree(without=("proc", "sys")))
    assert {value for value in found.values() if value != []} == {None}


def test_live_machine():
    found = snapshot()
    assert found["logical_cpus"] >= 1
    assert found["memory_total_bytes"] > 1e8
