"""The data that a page carries: everything, or a bounded part of it that says so."""

from __future__ import annotations

import json

import msgspec
import pytest
from fixtures.study import make_study
from fixtures.views import cell, study, trial
from hypothesis import given
from hypothesis import strategies as st

from pacenote.report import raw, view
from pacenote.report.model import StudyView


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(raw, "MOST_STEPS", 10)
    return 10


def of_steps(*counts: int) -> StudyView:
    return study(cell("a"), trials=[trial("a", at, steps_ns=[at + 1] * count) for at, count in enumerate(counts)])


def test_export_names_its_format_and_is_plain_json() -> None:
    exported = raw.export(view.build(*make_study()))
    assert exported["format"] == raw.FORMAT
    assert json.loads(json.dumps(exported, allow_nan=False)) == json.loads(msgspec.json.encode(exported))


def test_export_gives_the_view_back() -> None:
    built = view.build(*make_study())
    exported = raw.export(built)
    exported.pop("format")
    assert msgspec.convert(exported, StudyView) == built


def test_reasons_for_missing_values_are_exported_too() -> None:
    exported = raw.export(view.build(*make_study()))
    assert exported["cells"][0]["memory"]["device_peak_bytes"] == {
        "value": None,
        "method": "none",
        "reason": "device_is_cpu",
    }


@pytest.mark.parametrize(
    ("counts", "carried"),
    [
        ([], []),
        ([10], [True]),
        ([11], [False]),
        ([4, 6], [True, True]),
        ([4, 7], [True, False]),
        ([4, 7, 1], [True, False, False]),  # in order: no gap in the middle
        ([0, 10, 0], [True, True, True]),
    ],
)
def test_whole_processes_are_carried_in_order_up_to_the_bound(
    bound: int, counts: list[int], carried: list[bool]
) -> None:
    built = of_steps(*counts)
    trials = raw.export(built)["trials"]
    assert [one["step_ns"] is not None for one in trials] == carried
    assert [one["turn"] is not None for one in trials] == carried
    assert raw.total_steps(built) == sum(counts)
    assert raw.kept_steps(built) <= bound


def test_process_without_its_steps_keeps_its_summary(bound: int) -> None:
    (one,) = raw.export(of_steps(bound + 1))["trials"]
    assert one["step_time_s"] == 0.01
    assert one["steps"] == bound + 1


@given(st.lists(st.integers(0, 40), max_size=8))
def test_nothing_is_lost_below_the_bound(counts: list[int]) -> None:
    built = of_steps(*counts)
    assert raw.kept_steps(built) == raw.total_steps(built) == sum(counts)
    assert [len(one["step_ns"]) for one in raw.export(built)["trials"]] == counts
