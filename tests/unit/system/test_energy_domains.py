"""Energy counters: several packages, wraps, resets, rights."""

from __future__ import annotations

from pathlib import Path

import pytest
from composed import Machine, deny
from hypothesis import given
from hypothesis import strategies as st

from pacenote.system import energy
from pacenote.system.energy import Counter

RANGE_UJ = 262_143_328_850  # as an Intel package states it


def domain(machine: Machine, folder: str, name: str, energy_uj: str, range_uj: str = str(RANGE_UJ)) -> Machine:
    place = f"/sys/class/powercap/{folder}"
    machine.file(f"{place}/name", name + "\n").file(f"{place}/energy_uj", energy_uj + "\n")
    return machine.file(f"{place}/max_energy_range_uj", range_uj + "\n")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_packages_and_memory_are_told_apart_and_parts_of_a_package_left_out(machine: Machine) -> None:
    domain(machine, "intel-rapl:0", "package-0", "1000")
    domain(machine, "intel-rapl:1", "package-1", "2000")
    domain(machine, "intel-rapl:0:0", "core", "700")  # already inside its package
    domain(machine, "intel-rapl:0:1", "dram", "300")
    domain(machine, "intel-rapl:2", "psys", "9000")  # the whole board: packages are inside
    domain(machine, "intel-rapl-mmio:0", "package-0", "1000")  # the same package by another road
    found = energy.read(machine.reader)
    assert {name: counter.energy_uj for name, counter in found.packages.items()} == {
        "intel-rapl:0": 1000,
        "intel-rapl:1": 2000,
    }
    assert list(found.dram) == ["intel-rapl:0:1"]
    assert found.reason == ""


def test_a_machine_without_powercap(machine: Machine) -> None:
    assert energy.read(machine.reader) == energy.RawEnergy({}, {}, "no_rapl")


def test_counters_for_root_only(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    domain(machine, "intel-rapl:0", "package-0", "1000")
    deny(monkeypatch, lambda path: path.endswith("energy_uj"))
    assert energy.read(machine.reader) == energy.RawEnergy({}, {}, "rapl_needs_root")


@pytest.mark.parametrize("text", ["", "many", "-"])
def test_a_counter_without_a_number_is_not_counted(machine: Machine, text: str) -> None:
    domain(machine, "intel-rapl:0", "package-0", text)
    assert energy.read(machine.reader).packages == {}


def test_a_counter_without_a_range_cannot_be_followed_over_its_end(machine: Machine) -> None:
    domain(machine, "intel-rapl:0", "package-0", "5", range_uj="")
    counter = energy.read(machine.reader).packages["intel-rapl:0"]
    assert counter == Counter(5, None)
    assert energy.used_j({"a": counter}, {"a": Counter(8, None)}) == pytest.approx(3e-6)
    assert energy.used_j({"a": counter}, {"a": Counter(4, None)}) is None


def test_a_wrap_of_one_package_does_not_touch_the_other() -> None:
    before = {"a": Counter(RANGE_UJ - 1_000_000, RANGE_UJ), "b": Counter(5_000_000, RANGE_UJ)}
    after = {"a": Counter(2_000_000, RANGE_UJ), "b": Counter(9_000_000, RANGE_UJ)}
    assert energy.used_j(before, after) == pytest.approx(3.0 + 4.0)


@pytest.mark.parametrize(("before", "after"), [("a", "ab"), ("ab", "a"), ("a", "b"), ("", "a"), ("a", ""), ("", "")])
def test_a_package_that_comes_or_goes_leaves_no_sum(before: str, after: str) -> None:
    first = {name: Counter(1, RANGE_UJ) for name in before}
    second = {name: Counter(2, RANGE_UJ) for name in after}
    assert energy.used_j(first, second) is None


@given(st.integers(0, RANGE_UJ - 1), st.integers(0, RANGE_UJ - 1))
def test_energy_between_two_readings_is_never_negative_and_wraps_at_most_once(start: int, used: int) -> None:
    end = (start + used) % RANGE_UJ
    found = energy.used_j({"a": Counter(start, RANGE_UJ)}, {"a": Counter(end, RANGE_UJ)})
    assert found == pytest.approx(used * 1e-6)


@pytest.mark.parametrize(
    ("total_j", "reason", "expected"),
    [(None, "", "no_rapl"), (None, "rapl_needs_root", "rapl_needs_root"), (0.0, "", "")],
)
def test_an_energy_of_zero_is_measured_and_none_is_not(total_j: float | None, reason: str, expected: str) -> None:
    found = energy.reading(total_j, reason)
    assert (found.value, found.reason) == (total_j, expected)
