"""What the runner tells whoever watches: small values, one per thing that happened; never a sentence."""

from __future__ import annotations

from collections.abc import Callable

from pacenote.records import Record, Status


class StudyStarted(Record, frozen=True, kw_only=True):
    """The cells are known and the first process is about to start."""

    study_id: str
    cells: list[str]
    rounds: int
    rounds_kept: int  # rounds of an unfinished study that need not run again
    expected_s: float


class CalibrationStarted(Record, frozen=True, kw_only=True):
    """The ceilings of one device are being measured in one framework: a few seconds, once per machine."""

    framework: str
    device: str


class RoundStarted(Record, frozen=True, kw_only=True):
    """One round begins: a fresh process for each cell."""

    round: int
    rounds: int
    remaining_s: float


class TrialReady(Record, frozen=True, kw_only=True):
    """One process has imported its framework and built the workload, and waits for its first turn."""

    cell: str
    round: int
    start_s: float


class TurnDone(Record, frozen=True, kw_only=True):
    """One cell has trained for one turn; turn 0 is the warm-up.

    ``step_time_s`` is the mean over the turn. It is there to be watched, not to be quoted.
    """

    cell: str
    round: int
    turn: int
    turns: int
    steps: int
    step_time_s: float
    samples_per_s: float | None
    remaining_s: float


class TrialEnded(Record, frozen=True, kw_only=True):
    """One record has been stored."""

    cell: str
    round: int
    trial_id: str
    status: Status
    text: str = ""


class StudyEnded(Record, frozen=True, kw_only=True):
    """No more trials follow; ``reason`` is one of rounds, within, budget, interrupted, nothing_left."""

    rounds: int
    reason: str
    reached_width: float | None = None


Event = StudyStarted | CalibrationStarted | RoundStarted | TrialReady | TurnDone | TrialEnded | StudyEnded
Progress = Callable[[Event], None]


def silent(event: Event) -> None:
    """Watch nothing."""
