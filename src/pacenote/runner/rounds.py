"""The runner: rounds until there is enough, the interval is narrow enough, or the time is over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pacenote import plan
from pacenote.records import Cell, Record, Study, TrialRecord
from pacenote.runner import progress, state
from pacenote.runner.group import Group
from pacenote.runner.setting import CeilingsOf, Parts, Settings, no_ceilings

RESIDENT_BYTES: Final = 1.0e9
"""Assumed for a child before any has been measured (torch and paddle with a small net: 0.3-0.6 GB PSS, measured)."""

MEMORY_SHARE: Final = 0.8
"""Part of the available memory that resident children may fill; the rest is for what they allocate later."""

MAX_ROUNDS: Final = 50
"""End of a study that asked for a width which this machine cannot reach, when it has no time budget either."""

MIN_ROUNDS_FOR_WIDTH: Final = 3
"""An interval over fewer processes says too little about itself to stop by it."""

WidthOf = Callable[[Sequence[TrialRecord]], "float | None"]


class Ended(Record, frozen=True, kw_only=True):
    """How a study ended; ``reason`` as in :class:`pacenote.runner.progress.StudyEnded`."""

    records: list[TrialRecord]
    rounds: int
    reason: str
    reached_width: float | None = None


class Runner:
    """Runs one study.

    Args:
        study: Names the cells; already in the store.
        parts: What to work with.
        settings: When to stop.
        ceilings: Ceilings to write into the record of a spec.
        width: Largest half width of the study's intervals over some records, as a share.
    """

    def __init__(
        self,
        study: Study,
        parts: Parts,
        settings: Settings,
        *,
        ceilings: CeilingsOf = no_ceilings,
        width: WidthOf | None = None,
    ) -> None:
        self._study = study
        self._parts = parts
        self._settings = settings
        self._ceilings = ceilings
        self._width = width
        self._cells = {cell.label: cell for cell in study.cells}
        self._records: list[TrialRecord] = []
        self._expected_environments: dict[str, str] = {}
        self._round_s: list[float] = []
        self._began_s = 0.0

    def run(self, kept: Sequence[TrialRecord] = (), *, spent_s: float = 0.0) -> Ended:
        """Run rounds until one of the reasons to stop holds.

        Args:
            kept: Records of earlier, interrupted runs of this study.
            spent_s: Part of the time budget that is already gone.

        Raises:
            EnvironmentChangedError: If a kept record was made in another environment.
        """
        self._records = list(kept)
        self._expected_environments = {one.spec_hash: one.environment_hash for one in kept if one.environment_hash}
        self._began_s = self._parts.clock.monotonic_s() - spent_s
        while True:
            standing = state.stand(self._study.cells, self._records)
            reached = self._reached(standing)
            reason = self._stop_reason(standing, reached)
            if reason is None:
                try:
                    self._run_round(standing)
                    continue
                except KeyboardInterrupt:
                    reason = "interrupted"
                    standing = state.stand(self._study.cells, self._records)
            ended = progress.StudyEnded(rounds=standing.rounds, reason=reason, reached_width=reached)
            self._parts.tell(ended)
            return Ended(records=self._records, rounds=standing.rounds, reason=reason, reached_width=reached)

    def _reached(self, standing: state.State) -> float | None:
        if self._width is None or not standing.live or standing.rounds < MIN_ROUNDS_FOR_WIDTH:
            return None
        return self._width(self._records)

    def _stop_reason(self, standing: state.State, reached: float | None) -> str | None:
        settings = self._settings
        if not standing.live:
            return "nothing_left"
        if settings.within is not None and reached is not None and reached <= settings.within:
            return "within"
        if standing.rounds >= (settings.rounds if settings.within is None else MAX_ROUNDS):
            return "rounds"
        # At least one round always runs: a budget that is too small still deserves an answer.
        if settings.time_budget_s is None or not (self._round_s or standing.rounds):
            return None
        ends_s = self._parts.clock.monotonic_s() - self._began_s + self._expected_round_s(standing)
        return "budget" if ends_s > settings.time_budget_s else None

    def _expected_round_s(self, standing: state.State) -> float:
        if self._round_s:
            return max(self._round_s[-2:])
        return plan.expect([self._cells[label] for label in standing.live], self._settings.effort, 1).round_s

    def _run_round(self, standing: state.State) -> None:
        """Run every live cell once, in as few groups as memory allows.

        Each group has a round number of its own: between groups turns do not lie next to each other in time, so
        nothing may pair them.
        """
        clock = self._parts.clock
        began_s = clock.monotonic_s()
        expected_s = self._expected_round_s(standing)
        rounds_left = max(1, self._settings.rounds - standing.rounds)

        budget_s = self._settings.time_budget_s

        def remaining_s() -> float:
            now_s = clock.monotonic_s()
            left_s = expected_s * rounds_left - (now_s - began_s)
            if budget_s is not None:
                left_s = min(left_s, budget_s - (now_s - self._began_s))
            return max(0.0, left_s)

        total = standing.rounds + rounds_left
        self._parts.tell(progress.RoundStarted(round=standing.rounds, rounds=total, remaining_s=remaining_s()))
        for number, labels in enumerate(state.groups(standing.live, self._resident_limit()), standing.next_round):
            self._run_group(number, [self._cells[label] for label in labels], remaining_s)
        self._round_s.append(clock.monotonic_s() - began_s)

    def _run_group(self, number: int, cells: list[Cell], remaining_s: Callable[[], float]) -> None:
        group = Group(
            number,
            self._study.id,
            parts=self._parts,
            settings=self._settings,
            ceilings=self._ceilings,
            remaining_s=remaining_s,
            expected_environments=self._expected_environments,
        )
        try:
            group.run(cells)
        finally:
            self._records += group.records

    def _resident_limit(self) -> int:
        """How many children fit into memory at once."""
        if state.crowded(self._records):
            return 1
        available = self._parts.meters.available_bytes()
        if available is None:
            return len(self._cells)
        seen = [one.memory.pss_bytes.value or one.memory.rss_peak_bytes.value or 0.0 for one in self._records]
        return max(1, int(available * MEMORY_SHARE / (max(seen, default=0.0) or RESIDENT_BYTES)))
