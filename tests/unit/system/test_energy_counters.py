from __future__ import annotations

import os

import pytest

from pacenote.system import energy


def test_a_counter_that_wraps_is_followed(tree):
    before, after = energy.read(tree("rapl")), energy.read(tree("rapl", "rapl_after"))
    assert before.reason == ""
    # 262143.328850 J is the range: 0.328850 J to its end, and 9.67115 J after it. The mmio twin does not count again.
    assert energy.used_j(before.packages, after.packages) == pytest.approx(10.0)
    assert energy.used_j(before.dram, after.dram) == pytest.approx(2.5)


def test_no_counter_has_a_reason(tree):
    found = energy.read(tree())
    assert found.reason == "no_rapl"
    assert energy.used_j(found.packages, found.packages) is None
    assert energy.reading(None, found.reason).reason == "no_rapl"


def test_counters_that_only_root_may_read(tree, monkeypatch):
    reader = tree("rapl")
    allowed = reader.text

    def text(path: str) -> str | None:
        return None if path.endswith("energy_uj") else allowed(path)

    monkeypatch.setattr(reader, "text", text)
    assert os.path.exists(f"{reader.root}/sys/class/powercap/intel-rapl:0/energy_uj")
    assert energy.read(reader).reason == "rapl_needs_root"


def test_a_wrap_without_a_range_is_unknown():
    assert energy.used_j({"p": energy.Counter(9, None)}, {"p": energy.Counter(1, None)}) is None


def test_a_domain_that_appears_is_unknown():
    assert energy.used_j({}, {"p": energy.Counter(9, 10)}) is None


def test_reading_is_labelled_measured():
    assert energy.reading(2.0, "").method == "measured"
