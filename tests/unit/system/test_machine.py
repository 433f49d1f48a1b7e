from __future__ import annotations

import re

from pacenote.system.machine import machine_facts, machine_id


def test_id_is_stable_and_hides_its_source(tree):
    first = machine_id(tree())
    assert first == machine_id(tree())
    assert re.fullmatch("[0-9a-f]{16}", first)
    assert first not in "0123456789abcdef0123456789abcdef"


def test_another_machine_has_another_id(tree):
    reader = tree()
    first = machine_id(reader)
    with open(f"{reader.root}/etc/machine-id", "w") as stream:
        stream.write("f" * 32)
    assert machine_id(reader) != first


def test_id_without_a_machine_id_file(tree):
    reader = tree(without=("etc",))
    assert machine_id(reader) == machine_id(reader)


def test_every_documented_key_and_no_other(tree):
    text = (machine_facts.__doc__ or "").replace("``None``", "")
    documented = set(re.findall(r"``([a-z_0-9]+)``", text)) - {"index", "name", "driver_version", "clock_max_hz"}
    assert set(machine_facts(tree())) == documented


def test_facts_of_a_recorded_machine(tree):
    facts = machine_facts(tree("v2_nested", "thermal"))
    assert facts["cgroup_version"] == 2
    assert facts["quota_cpus"] == 1.5
    assert facts["memory_limit_bytes"] == 8 << 30
    assert facts["cpu_governor"] == "powersave"
    assert facts["cpu_clock_max_hz"] == 4.6e9
    assert facts["transparent_hugepages"] == "madvise"
    assert facts["accelerators"] == []


def test_two_readings_of_the_live_machine_are_equal():
    assert machine_facts() == machine_facts()
