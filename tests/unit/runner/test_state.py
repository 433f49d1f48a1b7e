"""Where a study stands, from its records alone."""

from __future__ import annotations

import fake_trials
import pytest

from pacenote.records import Cell, Outcome, Status, TrialRecord, TrialSpec
from pacenote.runner import state

CELLS = [Cell(label=name, spec=TrialSpec(workload="lenet", framework=name)) for name in "abc"]


def record(label: str, number: int, status: Status = Status.FINISHED, signal: str | None = None) -> TrialRecord:
    spec = next(cell.spec for cell in CELLS if cell.label == label)
    return fake_trials.trial([[0.1]], spec=spec, round=number, outcome=Outcome(status=status, signal=signal))


def test_nothing_yet() -> None:
    assert state.stand(CELLS, []) == state.State(live=["a", "b", "c"], rounds=0, next_round=0)


def test_a_round_counts_when_every_live_cell_has_finished() -> None:
    records = [record("a", 0), record("b", 0), record("c", 0), record("a", 1)]
    assert state.stand(CELLS, records) == state.State(live=["a", "b", "c"], rounds=1, next_round=2)


@pytest.mark.parametrize("status", [Status.MISSING, Status.UNSUPPORTED, Status.OUT_OF_MEMORY, Status.HUNG])
def test_a_hopeless_cell_is_left_out_at_once(status: Status) -> None:
    standing = state.stand(CELLS, [record("a", 0), record("b", 0, status), record("c", 0)])
    assert (standing.live, standing.rounds) == (["a", "c"], 1)


@pytest.mark.parametrize("status", [Status.CRASHED, Status.KILLED])
def test_an_accident_is_tried_once_more(status: Status) -> None:
    once = [record("a", 0), record("b", 0, status), record("c", 0)]
    assert "b" in state.stand(CELLS, once).live
    assert "b" not in state.stand(CELLS, [*once, record("b", 1, status)]).live


def test_an_interrupt_is_no_failure() -> None:
    standing = state.stand(CELLS, [record("b", number, Status.INTERRUPTED) for number in range(5)])
    assert standing == state.State(live=["a", "b", "c"], rounds=0, next_round=5)


def test_a_cell_crowded_out_of_memory_is_tried_alone() -> None:
    crowded = [record("b", 0, Status.OUT_OF_MEMORY, signal="SIGKILL")]
    assert "b" in state.stand(CELLS, crowded).live
    assert state.crowded(crowded)
    assert not state.crowded([record("b", 0, Status.OUT_OF_MEMORY)])


def test_records_of_other_cells_do_not_count() -> None:
    stranger = fake_trials.trial([[0.1]], round=7)
    assert state.stand(CELLS, [stranger]).next_round == 0


def test_groups_are_even_and_hold_everything_once() -> None:
    assert state.groups(list("abcde"), 5) == [list("abcde")]
    split = state.groups(list("abcde"), 2)
    assert sorted(map(len, split)) == [1, 2, 2]
    assert sorted(label for group in split for label in group) == list("abcde")
    assert state.groups(list("ab"), 0) == [["a"], ["b"]]


def test_the_order_turns_with_the_round_and_swings_with_the_turn() -> None:
    labels = list("abc")
    assert state.order(labels, 0, 0) == ["a", "b", "c"]
    assert state.order(labels, 0, 1) == ["c", "b", "a"]
    assert state.order(labels, 1, 0) == ["b", "c", "a"]
    assert state.order([], 3, 1) == []


def test_a_steady_drift_falls_on_all_cells_alike() -> None:
    place = dict.fromkeys("abc", 0)
    for turn in range(6):
        for position, label in enumerate(state.order(list("abc"), 2, turn)):
            place[label] += 3 * turn + position
    assert len(set(place.values())) == 1
