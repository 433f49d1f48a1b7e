"""What a study has so far, read from its records alone, so that a resumed study stands where it stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from pacenote.records import Cell, Outcome, Record, Status, TrialRecord

HOPELESS: Final = frozenset({Status.MISSING, Status.UNSUPPORTED, Status.OUT_OF_MEMORY, Status.HUNG})
"""Ends that another try would only repeat; a hang is left out because it costs its whole time-out each time."""

TRIES: Final = 2
"""How often a cell may crash or be killed before it is left out: once may be an accident."""


class State(Record, frozen=True, kw_only=True):
    """Where a study stands.

    Attributes:
        live: Labels of the cells that still run.
        rounds: Rounds in which every live cell has finished.
        next_round: Number for the next round; numbers are never used twice.
    """

    live: list[str]
    rounds: int
    next_round: int


def stand(cells: Sequence[Cell], records: Iterable[TrialRecord]) -> State:
    """Read the state from the records."""
    labels = {cell.spec.hash(): cell.label for cell in cells}
    finished: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    left_out: set[str] = set()
    next_round = 0
    for record in records:
        label = labels.get(record.spec_hash)
        if label is None:
            continue
        next_round = max(next_round, record.round + 1)
        status = record.outcome.status
        if status is Status.FINISHED:
            finished[label] += 1
        elif status is not Status.INTERRUPTED:
            failed[label] += 1
            if failed[label] >= TRIES or (status in HOPELESS and not _crowded_out(record.outcome)):
                left_out.add(label)
    live = [cell.label for cell in cells if cell.label not in left_out]
    return State(live=live, rounds=min((finished[label] for label in live), default=0), next_round=next_round)


def _crowded_out(outcome: Outcome) -> bool:
    """The kernel ended it for lack of memory while others were resident: alone it may fit."""
    return outcome.status is Status.OUT_OF_MEMORY and outcome.signal == "SIGKILL"


def crowded(records: Iterable[TrialRecord]) -> bool:
    """Whether memory was too small for all cells of a round at once."""
    return any(_crowded_out(record.outcome) for record in records)


def groups(labels: Sequence[str], limit: int) -> list[list[str]]:
    """Split a round into groups that fit into memory together, as even as possible."""
    count = -(-len(labels) // max(1, limit))
    return [list(labels[start::count]) for start in range(count)]


def order(labels: Sequence[str], round_number: int, turn: int) -> list[str]:
    """Order in which the cells take a turn.

    Turned by one each round and reversed every other turn, so that a steady drift of the machine, and whatever the
    cell before leaves in the caches, falls on all cells alike.
    """
    if not labels:
        return []
    shift = round_number % len(labels)
    turned = [*labels[shift:], *labels[:shift]]
    return turned[::-1] if turn % 2 else turned
