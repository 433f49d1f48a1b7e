"""The readings of macOS and Windows, tried through psutil on whatever runs the tests."""

from __future__ import annotations

import os
from types import SimpleNamespace

import psutil
import pytest

from pacenote.system import cpu, load, portable, process
from pacenote.system.reader import Reader


class BareReader(Reader):
    """A live machine without /proc and /sys."""

    def __init__(self, root):
        super().__init__(root)

    @property
    def live(self) -> bool:
        return True


@pytest.fixture
def bare(tmp_path):
    return BareReader(tmp_path)


def test_counts(bare):
    found = cpu.counts(bare)
    assert found["logical_cpus"] == psutil.cpu_count()
    assert found["quota_cpus"] is None


def test_memory_and_swap(bare):
    assert load.memory(bare)["memory_total_bytes"] == psutil.virtual_memory().total
    assert load.swapped_bytes(bare)[0] is not None


def test_busy_but_no_steal(bare):
    busy_s, steal_s = load.busy_and_steal_s(bare)
    assert busy_s > 0
    assert steal_s is None


def test_usage_and_footprint(bare):
    pid = os.getpid()
    assert process.usage(pid, bare).cpu_s > 0
    found = process.footprint(pid, bare)
    assert found.rss_bytes.value > 1e6
    assert found.pss_bytes.reason == "not_on_this_system"
    assert process.tree(pid, bare)[0] == pid


def test_a_process_that_is_gone(bare):
    assert portable.process(2**30) == {}
    assert process.usage(2**30, bare) is None
    assert portable.descendants(2**30) == []


def test_systems_without_affinity(monkeypatch):
    monkeypatch.delattr(psutil.Process, "cpu_affinity", raising=False)
    assert portable.cpus()["affinity_cpus"] is None


def test_clock(monkeypatch):
    monkeypatch.setattr(psutil, "cpu_freq", lambda: SimpleNamespace(current=2400.0, max=3200.0))
    assert portable.clock_hz() == (2.4e9, 3.2e9)
    monkeypatch.setattr(psutil, "cpu_freq", lambda: None)
    assert portable.clock_hz() == (None, None)
