"""The parts of a record that are more than a copy."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from pacenote.child import events
from pacenote.records import Counters, LeverOutcome, Reading, TrialSpec, Turn
from pacenote.runner import slot
from pacenote.system.process import Footprint


def reading(value: float | None) -> Reading:
    return Reading(reason="gone") if value is None else Reading(value=value, method="measured")


def footprint(pss: float | None) -> Footprint:
    one = reading(pss)
    return Footprint(rss_bytes=one, rss_peak_bytes=one, pss_bytes=one, swap_bytes=one, processes=1)


def turn(number: int, **facts: Any) -> Turn:
    counted = {name: facts.pop(name, None) for name in ("major_faults", "minor_faults")}
    return Turn(turn=number, steps=1, counters=Counters(wall_s=1.0, child_cpu_s=1.0, **counted), **facts)


def spec(**changes: Any) -> TrialSpec:
    return TrialSpec(**{"workload": "lenet", "framework": "pytorch", **changes})


def test_unpack_undoes_the_childs_pack() -> None:
    values = array("q", [1, -2, 2**62])
    assert slot.unpack(events.pack(values)) == b"".join(value.to_bytes(8, "little", signed=True) for value in values)


def test_memory_keeps_the_largest_and_says_why_there_is_none() -> None:
    found = slot.memory(spec(), [footprint(2.0), footprint(3.0), footprint(None)], [turn(0, minor_faults=4)])
    assert found.pss_bytes == reading(3.0)
    assert found.minor_faults == Reading(value=4.0, method="counted")
    assert found.major_faults == Reading(reason="not_counted")
    assert found.device_peak_bytes == Reading(reason="device_is_cpu")


def test_memory_of_a_child_that_never_ran() -> None:
    found = slot.memory(spec(), [], [])
    assert {found.pss_bytes.reason, found.minor_faults.reason, found.device_peak_bytes.reason} == {"never_ran"}


def test_device_memory_is_the_highest_of_all_turns() -> None:
    turns = [turn(0, device_peak_bytes=5), turn(1, device_peak_bytes=9), turn(2, device_peak_bytes=7)]
    found = slot.memory(spec(device="cuda:0"), [footprint(None)], turns)
    assert found.device_peak_bytes == Reading(value=9.0, method="measured")
    assert found.device_reserved_bytes == Reading(reason="not_reported")
    assert found.pss_bytes == Reading(reason="gone")


def test_levers_are_judged_by_what_was_seen() -> None:
    asked = spec(levers={"batch_size": 32, "dtype": "bf16", "own": 3})
    outcomes = {one.name: one for one in slot.lever_outcomes(asked, {"batch_size": 32, "dtype": "fp32"})}
    assert outcomes["batch_size"].applied is True
    assert outcomes["dtype"].applied is False
    assert outcomes["own"] == LeverOutcome(name="own", asked=3)


@pytest.mark.parametrize(
    ("changes", "waits"),
    [
        ({}, False),
        ({"levers": {"loader_workers": 0}}, False),
        ({"levers": {"loader_workers": 2}}, True),
        ({"device": "cuda:0"}, True),
    ],
)
def test_a_clean_exit_is_waited_for_only_where_it_gives_something_back(changes: dict[str, Any], waits: bool) -> None:
    assert (slot.leaving_s(spec(**changes)) > 0) is waits
