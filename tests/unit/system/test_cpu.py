from __future__ import annotations

import pytest

from pacenote.system import cpu
from pacenote.system.reader import Reader


def test_plain_machine(tree):
    reader = tree()
    assert cpu.counts(reader) == {"logical_cpus": 2, "affinity_cpus": 2, "physical_cores": 2, "quota_cpus": None}
    facts = cpu.describe(reader)
    assert facts["cpu_model"] == "AMD EPYC"
    assert "avx512_bf16" in facts["cpu_flags"]
    assert "syscall" not in facts["cpu_flags"]
    assert facts["l3_cache_bytes"] == 32 << 20
    assert facts["virtual"] is True


def test_hardware_threads_and_affinity(tree):
    counts = cpu.counts(tree("smt"))
    assert counts["logical_cpus"] == 4
    assert counts["affinity_cpus"] == 3  # 0, 2 and 3 of the four
    assert counts["physical_cores"] == 2


def test_cores_from_cpuinfo_where_there_is_no_topology(tree):
    assert cpu.counts(tree(without=("sys/devices",)))["physical_cores"] == 2


def test_nothing_known_is_none(tmp_path):
    assert cpu.counts(Reader(tmp_path)) == {
        "logical_cpus": None,
        "affinity_cpus": None,
        "physical_cores": None,
        "quota_cpus": None,
    }
    assert cpu.describe(Reader(tmp_path))["cpu_model"] is None


@pytest.mark.parametrize(
    ("quota_cpus", "cores", "affinity", "threads"),
    [(None, 8, 16, 8), (2.5, 8, 16, 2), (0.5, 8, 16, 1), (None, 8, 4, 4), (None, None, None, 1)],
)
def test_threads_default_never_hurts(quota_cpus, cores, affinity, threads):
    facts = {"quota_cpus": quota_cpus, "physical_cores": cores, "affinity_cpus": affinity}
    assert cpu.threads_default(facts) == threads
