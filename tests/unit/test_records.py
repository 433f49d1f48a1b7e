"""Stored values: their hashes are for ever, their form is read back, and later versions may add to them."""

from __future__ import annotations

import json
from typing import Any

import fake_trials
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote import records
from pacenote.records import Cell, Environment, Finding, Outcome, Reading, Status, Study, TrialRecord, TrialSpec

# Written down when schema 1 was made. A changed hash would make every stored replicate a stranger.
GOLDEN_HASHES = {
    "7892afe431b9d701": TrialSpec(workload="lenet", framework="pytorch"),
    "715df05c8bfbdcf0": TrialSpec(
        workload="lenet", framework="paddle", device="gpu:0", levers={"batch_size": 256, "threads": 2}
    ),
    "bae16dd44f298af0": TrialSpec(
        workload="simplenet", framework="pytorch", data_mode="device", seed=7, planted_slowdown_ratio=1.1
    ),
    "90d56575b2870a40": TrialSpec(
        workload="lenet", framework="pytorch", levers={"dtype": "bf16", "width": 1.5, "x": None, "y": True}
    ),
    "43e3e408d4b4d688": TrialSpec(workload="lenet", framework="pytorch", data_dir="/données", python="/opt/python"),
    "69a5a5c3d4a916b9": Environment(facts={}),
    "d8632037a7704a28": Environment(facts={"cpu_model": "X", "variables": {"OMP_NUM_THREADS": "2"}, "quota_cpus": 1.5}),
}


@pytest.mark.parametrize(("expected", "value"), GOLDEN_HASHES.items())
def test_hashes_stay_what_they_were(expected: str, value: TrialSpec | Environment) -> None:
    assert value.hash() == expected


def test_different_questions_have_different_hashes() -> None:
    assert len({value.hash() for value in GOLDEN_HASHES.values()}) == len(GOLDEN_HASHES)


@pytest.mark.parametrize(
    "change",
    [
        {"workload": "other"},
        {"framework": "paddle"},
        {"device": "cuda:0"},
        {"data_mode": "loader"},
        {"data_dir": "/d"},
        {"python": "/p"},
        {"seed": 1},
        {"levers": {"batch_size": 32}},
        {"levers": {"batch_size": None}},
        {"planted_slowdown_ratio": 1.01},
    ],
)
def test_every_field_of_a_question_is_part_of_its_hash(change: dict[str, Any]) -> None:
    base = TrialSpec(workload="lenet", framework="pytorch")
    assert msgspec.structs.replace(base, **change).hash() != base.hash()


@given(
    st.dictionaries(st.text(max_size=8), st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=5)))
)
def test_the_order_of_levers_does_not_matter(levers: dict[str, Any]) -> None:
    turned = dict(reversed(levers.items()))
    first, second = (TrialSpec(workload="w", framework="f", levers=one) for one in (levers, turned))
    assert first.hash() == second.hash()


def through_json(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value), type=type(value))


@pytest.mark.parametrize(
    "value",
    [
        fake_trials.trial([[0.1, 0.2], [0.1]]),
        Reading(value=1.5, method="measured"),
        Reading(reason="no_sensor"),
        Finding(code="ratio", params={"low": 1.0, "reasons": ["a", "b"], "nothing": None}),
        Cell(label="a/b", spec=TrialSpec(workload="w", framework="f", levers={"x": 1.5})),
        Study(id="s", question="run", created_unix_s=1.5, command=["pacenote", "run"], options={"force": True}),
        Environment(facts={"deep": {"list": [1, None, "x"]}}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert through_json(value) == value


def test_records_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Reading().value = 1.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        TrialSpec("lenet", "pytorch")  # type: ignore[misc]


def test_two_records_do_not_share_their_lists() -> None:
    first, second = (Study(id=name, question="run", created_unix_s=0.0) for name in "ab")
    first.cells.append(Cell(label="x", spec=TrialSpec(workload="w", framework="f")))
    assert second.cells == []


def test_fields_a_later_version_adds_are_passed_over() -> None:
    raw = json.loads(msgspec.json.encode(fake_trials.trial([[0.1]])))
    raw["added_later"] = {"x": 1}
    raw["outcome"]["added_later"] = 2
    assert msgspec.convert(raw, TrialRecord).outcome.status is Status.FINISHED


@pytest.mark.parametrize(
    ("path", "value"),
    [(("outcome", "status"), "exploded"), (("round",), "first"), (("turns",), None), (("spec", "workload"), 7)],
)
def test_values_of_the_wrong_kind_are_refused(path: tuple[str, ...], value: Any) -> None:
    raw = msgspec.to_builtins(fake_trials.trial([[0.1]]))
    place = raw
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(raw, TrialRecord)


def test_every_end_has_a_name_that_stays() -> None:
    assert [status.value for status in Status] == [
        *["finished", "out_of_memory", "killed", "hung", "crashed", "interrupted", "missing", "unsupported"]
    ]
    assert Outcome(status=Status.HUNG).exit_code is None


def test_ids_sort_by_time_and_do_not_repeat() -> None:
    times = [1.7e9, 1.7e9 + 0.001, 1.7e9 + 1, 2.5e9]
    ids = [records.new_id(now) for now in times]
    assert ids == sorted(ids)
    assert {len(one) for one in ids} == {20}
    assert len({records.new_id(1.7e9) for _ in range(200)}) == 200
    assert records.new_id()[:3] >= "018"
