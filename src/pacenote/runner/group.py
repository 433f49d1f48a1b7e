"""One group of cells in one round: start them, let them take turns, end them, keep a record of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from pacenote import plan
from pacenote._version import __version__
from pacenote.engines import ChildEndedError
from pacenote.errors import PacenoteError
from pacenote.records import Cell, Effort, Outcome, Status, TrialRecord, new_id
from pacenote.redact import redact
from pacenote.runner import progress, state
from pacenote.runner.setting import CeilingsOf, Parts, Settings, takes_long_turn, variables
from pacenote.runner.shield import shielded
from pacenote.runner.slot import Identity, Slot

AT_ONCE: Final = 2
"""Children that import at the same time: more would only queue for the same disk and cores."""

GOODBYE_S: Final = 5.0
"""How long a child that has done all its turns may take to say so after Ctrl-C."""


class EnvironmentChangedError(PacenoteError):
    """A record of this environment is no replicate of the records that were to be continued."""


class Group:
    """The children of one round that are resident together.

    Args:
        number: Number of the round in the records.
        study_id: The study the records join.
        parts: What to work with.
        settings: What every trial shares.
        ceilings: Ceilings to write into the record of a spec.
        remaining_s: Tells how long the study will still take.
        expected_environments: Spec hash → environment of the records that are continued.
    """

    def __init__(
        self,
        number: int,
        study_id: str,
        *,
        parts: Parts,
        settings: Settings,
        ceilings: CeilingsOf,
        remaining_s: Callable[[], float],
        expected_environments: Mapping[str, str],
    ) -> None:
        self.records: list[TrialRecord] = []
        self._number = number
        self._study_id = study_id
        self._parts = parts
        self._settings = settings
        self._ceilings = ceilings
        self._remaining_s = remaining_s
        self._expected_environments = expected_environments
        self._slots: list[Slot] = []

    def run(self, cells: Sequence[Cell]) -> None:
        """Run the cells. After Ctrl-C what is done is kept before the interrupt goes on; no child outlives this."""
        try:
            self._start_all(cells)
            self._take_turns()
            self._finish_all(list(self._slots), self._effort.timeout_s)
        except KeyboardInterrupt:
            self._settle()
            raise
        finally:
            with shielded():
                for slot in self._slots:
                    slot.close()

    @property
    def _effort(self) -> Effort:
        return self._settings.effort

    def _start_all(self, cells: Sequence[Cell]) -> None:
        """Start every child before the first turn: none may import while another is measured."""
        before = self._parts.meters.before()
        by_label = {cell.label: cell for cell in cells}
        waiting = state.order(list(by_label), self._number, 0)
        starting: list[Slot] = []
        while waiting or starting:
            while waiting and len(starting) < AT_ONCE:
                starting.append(self._start(by_label[waiting.pop(0)], before))
            self._wait_ready(starting.pop(0))

    def _start(self, cell: Cell, before: dict[str, Any]) -> Slot:
        parts, spec = self._parts, cell.spec
        identity = Identity(
            trial_id=new_id(parts.clock.unix_s()),
            round=self._number,
            machine_id=self._settings.machine_id,
            version=__version__,
            effort=self._effort,
            before=before,
        )
        job = plan.job(spec, cache_dir=self._settings.cache_dir)
        with shielded():
            child = parts.engine.start(job, python=spec.python, environ=variables(spec))
            slot = Slot(cell, identity, child, meters=parts.meters, clock=parts.clock)
            self._slots.append(slot)
        return slot

    def _wait_ready(self, slot: Slot) -> None:
        try:
            start_s = slot.wait_ready()
        except ChildEndedError as error:
            self._store(slot, error.outcome)
            return
        found = self._parts.meters.environment(slot.framework, variables(slot.cell.spec))
        slot.environment_hash = self._parts.keeper.put_environment(found)
        if self._expected_environments.get(slot.cell.spec.hash(), slot.environment_hash) != slot.environment_hash:
            raise EnvironmentChangedError(f"the environment of {slot.cell.label} has changed since the run began.")
        self._parts.tell(progress.TrialReady(cell=slot.cell.label, round=self._number, start_s=start_s))

    def _take_turns(self) -> None:
        effort = self._effort
        steps = None if effort.max_steps is None else max(1, -(-effort.max_steps // effort.turns))
        for turn in range(effort.turns + 1):
            for slot in self._in_order(turn, long=False):
                if turn == 0:
                    self._turn(slot, 0, seconds=effort.warmup_s, steps=None)
                else:
                    seconds = slot.long_enough_s(effort.turn_s) if steps is None else None
                    self._turn(slot, turn, seconds=seconds, steps=steps)
        for slot in self._in_order(0, long=True):
            # A loader's workers refill their queue while the child rests, so short turns would measure a full queue.
            self._turn(slot, 0, seconds=effort.warmup_s, steps=None)
            whole_s = effort.turns * effort.turn_s if effort.max_steps is None else None
            self._turn(slot, 1, seconds=whole_s, steps=effort.max_steps)

    def _in_order(self, turn: int, *, long: bool) -> list[Slot]:
        """The slots whose children still live, in the order of this turn."""
        slots = {slot.cell.label: slot for slot in self._slots if takes_long_turn(slot.cell.spec) is long}
        return [slots[label] for label in state.order(list(slots), self._number, turn)]

    def _turn(self, slot: Slot, turn: int, *, seconds: float | None, steps: int | None) -> None:
        if slot not in self._slots:
            return
        try:
            done = slot.take_turn(turn, seconds=seconds, steps=steps)
        except ChildEndedError as error:
            self._store(slot, error.outcome)
            return
        step_time_s = done.counters.wall_s / max(1, done.steps)
        batch = slot.cell.spec.levers.get("batch_size")
        self._parts.tell(
            progress.TurnDone(
                cell=slot.cell.label,
                round=self._number,
                turn=turn,
                turns=1 if takes_long_turn(slot.cell.spec) else self._effort.turns,
                steps=done.steps,
                step_time_s=step_time_s,
                samples_per_s=batch / step_time_s if isinstance(batch, int) and step_time_s > 0 else None,
                remaining_s=self._remaining_s(),
            )
        )

    def _finish_all(self, slots: Sequence[Slot], timeout_s: float) -> None:
        """End children together: nothing is measured any more, so they may tear down at the same time."""
        leaving = []
        for slot in slots:
            try:
                slot.begin_finish()
            except ChildEndedError as error:
                self._store(slot, error.outcome)
            else:
                leaving.append(slot)
        for slot in leaving:
            try:
                outcome = slot.finish(timeout_s)
            except ChildEndedError as error:
                outcome = error.outcome
            self._store(slot, outcome)

    def _store(self, slot: Slot, outcome: Outcome) -> None:
        """Make the record, keep it, and take the slot out of the round."""
        if outcome.error_text:
            outcome = msgspec.structs.replace(outcome, error_text=redact(outcome.error_text))
        with shielded():
            record = slot.record(outcome, self._ceilings(slot.cell.spec))
            self._parts.keeper.put_trial(record, self._study_id)
            self.records.append(record)
            self._slots.remove(slot)
            slot.close()
        self._parts.tell(
            progress.TrialEnded(
                cell=slot.cell.label,
                round=self._number,
                trial_id=record.id,
                status=outcome.status,
                text=outcome.error_text or outcome.signal or "",
            )
        )

    def _settle(self) -> None:
        """After Ctrl-C: keep what has done all its turns as finished, the rest as interrupted."""
        done = [slot for slot in self._slots if len(slot.turns) >= self._wanted_turns(slot)]
        for slot in [slot for slot in self._slots if slot not in done]:
            slot.child.kill()
            self._store(slot, Outcome(status=Status.INTERRUPTED, signal="SIGINT"))
        self._finish_all(done, GOODBYE_S)

    def _wanted_turns(self, slot: Slot) -> int:
        return 2 if takes_long_turn(slot.cell.spec) else self._effort.turns + 1
