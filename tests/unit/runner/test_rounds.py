"""The runner on a scripted engine and clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scripted import FakeChild, FakeClock, FakeEngine, FakeKeeper, FakeMeters, ends_with

from pacenote import segment
from pacenote.engines import ChildEndedError
from pacenote.records import Cell, Effort, Outcome, Reading, Status, Study, TrialRecord, TrialSpec
from pacenote.runner import Ended, Parts, Runner, Settings, progress
from pacenote.runner.group import EnvironmentChangedError
from pacenote.runner.slot import Ceilings

EFFORT = Effort(warmup_s=0.2, turn_s=0.1, turns=3)
TRAINED_S = 0.2 + 3 * 0.1


def cell(name: str, **levers: Any) -> Cell:
    spec = TrialSpec(workload="lenet", framework="simulated", levers={"name": name, "batch_size": 32, **levers})
    return Cell(label=name, spec=spec)


class World:
    """One runner with everything round it scripted."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.engine = FakeEngine(self.clock)
        self.keeper = FakeKeeper()
        self.meters = FakeMeters(self.clock)
        self.events: list[progress.Event] = []

    def runner(self, cells: Sequence[Cell], **settings: Any) -> Runner:
        parts = Parts(
            engine=self.engine, keeper=self.keeper, meters=self.meters, clock=self.clock, tell=self.events.append
        )
        study = Study(id="s1", question="run", created_unix_s=0.0, cells=list(cells))
        more = {name: settings.pop(name) for name in ("width", "ceilings") if name in settings}
        return Runner(study, parts, Settings(**{"effort": EFFORT, "machine_id": "m1", **settings}), **more)

    def run(self, cells: Sequence[Cell], kept: Sequence[TrialRecord] = (), **settings: Any) -> Ended:
        return self.runner(cells, **settings).run(kept)

    def told(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


EFFORT_OF_LONG_STEPS = Effort(warmup_s=2.0, turn_s=0.25, turns=2)


@pytest.fixture
def world() -> World:
    return World()


def test_turns_are_interleaved_and_only_after_every_start(world: World) -> None:
    world.run([cell("a"), cell("b")], rounds=1)
    assert world.engine.log == [
        *[("a", 0), ("b", 0), ("b", 1), ("a", 1)],
        *[("a", 2), ("b", 2), ("b", 3), ("a", 3)],
    ]
    kinds = [type(event) for event in world.events]
    assert kinds.index(progress.TurnDone) > max(at for at, kind in enumerate(kinds) if kind is progress.TrialReady)


def test_each_round_has_fresh_processes_and_stores_every_record(world: World) -> None:
    ended = world.run([cell("a"), cell("b")], rounds=3)
    assert (ended.rounds, ended.reason) == (3, "rounds")
    assert len(world.engine.children) == 6
    assert [(study, record.round) for study, record in world.keeper.kept] == [("s1", n) for n in (0, 0, 1, 1, 2, 2)]
    assert not any(child.alive for child in world.engine.children)


def test_a_record_holds_everything(world: World) -> None:
    ceiling = Ceilings(flops=Reading(value=1e9, method="measured"))
    ended = world.run([cell("a")], rounds=1, ceilings=lambda spec: ceiling)
    (record,) = ended.records
    assert record.outcome == Outcome(status=Status.FINISHED, exit_code=0)
    assert [(turn.turn, turn.steps) for turn in record.turns] == [(0, 10), (1, 5), (2, 5), (3, 5)]
    assert record.turns[1].counters.wall_s == pytest.approx(0.1)
    assert record.turns[1].losses == [(0, 2.0)]
    assert record.environment_hash in world.keeper.environments
    assert record.framework == {"name": "fake", "python": "3.11", "debug_flags": {"anomaly_mode": False}}
    assert record.cold_start.import_s == 2.0
    assert record.cold_start.process_s == pytest.approx(0.1)
    assert record.cold_start.first_step_s == pytest.approx(0.02, rel=1e-3)
    assert record.memory.pss_bytes == Reading(value=2.0**20, method="measured")
    assert record.memory.minor_faults == Reading(value=8.0, method="counted")
    assert record.memory.device_peak_bytes == Reading(reason="device_is_cpu")
    assert record.sensors.cpu_energy_j.value == 3  # the warm-up turn is not watched
    assert record.samples_per_step == 32
    assert record.flop_per_sample == Reading(value=1e6, method="formula")
    assert record.ceiling_flops == ceiling.flops
    assert {lever.name: lever.applied for lever in record.levers} == {"name": True, "batch_size": True}
    assert record.events.objects == [{"kind": "optimizer", "name": "SGD"}]
    assert (record.replicate, record.machine_id, record.before) == (0, "m1", {"load_1min": 0.0})


def test_the_event_log_of_all_turns_is_one_log(world: World) -> None:
    (record,) = world.run([cell("a")], rounds=1).records
    cut = segment.segment(record.events)
    assert list(np.bincount(cut.turn)) == [10, 5, 5, 5]
    assert cut.total_s == pytest.approx(0.02, rel=1e-3)


def test_progress_tells_the_first_number_and_the_rest(world: World) -> None:
    world.run([cell("a")], rounds=2)
    first = world.told(progress.TurnDone)[0]
    assert (first.cell, first.round, first.turn, first.steps) == ("a", 0, 0, 10)
    assert first.step_time_s == pytest.approx(0.02)
    assert first.samples_per_s == pytest.approx(1600)
    remaining = [event.remaining_s for event in world.told(progress.TurnDone)]
    assert remaining == sorted(remaining, reverse=True)
    assert world.told(progress.StudyEnded) == [progress.StudyEnded(rounds=2, reason="rounds")]


@pytest.mark.parametrize("moment", ["ready", "turn 0", "turn 2", "begin_finish", "finish"])
def test_a_cell_that_fails_is_recorded_and_left_out_while_others_go_on(world: World, moment: str) -> None:
    world.engine.failures["b"] = ends_with(Status.OUT_OF_MEMORY, moment, error_text="no more")
    ended = world.run([cell("a"), cell("b"), cell("c")], rounds=2)
    found = [(record.spec.levers["name"], record.outcome.status) for record in world.keeper.records]
    assert sorted(found) == [("a", Status.FINISHED)] * 2 + [("b", Status.OUT_OF_MEMORY)] + [("c", Status.FINISHED)] * 2
    assert (ended.rounds, ended.reason) == (2, "rounds")
    assert not any(child.alive for child in world.engine.children if child.name != "b")


def test_what_a_failed_trial_measured_before_is_kept(world: World) -> None:
    world.engine.failures["a"] = ends_with(Status.KILLED, "turn 2", signal="SIGKILL")
    record = world.run([cell("a")], rounds=1).records[0]
    assert [turn.turn for turn in record.turns] == [0, 1]
    assert len(segment.segment(record.events).total_s) == 15
    assert record.levers == []


def test_a_crash_is_tried_twice_then_nothing_is_left(world: World) -> None:
    world.engine.failures["a"] = ends_with(Status.CRASHED, "ready")
    ended = world.run([cell("a")], rounds=5)
    assert (len(ended.records), ended.reason) == (2, "nothing_left")


def test_secrets_in_error_texts_are_not_kept(world: World) -> None:
    token = "ghp_" + "a1B2c3D4" * 5
    world.engine.failures["a"] = ends_with(Status.MISSING, "ready", error_text=f"cannot clone with {token}")
    world.run([cell("a")])
    assert token not in str(world.keeper.records)
    assert token not in str(world.events)


def interrupt_at(moment: str) -> Any:
    def fail(child: FakeChild, now: str) -> None:
        if now == moment:
            child.engine.failures.clear()
            raise KeyboardInterrupt

    return fail


def test_an_interrupt_keeps_what_is_finished_and_marks_the_rest(world: World) -> None:
    runner = world.runner([cell("a"), cell("b")], rounds=5)
    calls = {"b": 0}

    def fail(child: FakeChild, moment: str) -> None:
        calls["b"] += moment == "turn 2"
        if calls["b"] == 2:
            world.engine.failures.clear()
            raise KeyboardInterrupt

    world.engine.failures["b"] = fail
    ended = runner.run()
    assert (ended.reason, ended.rounds) == ("interrupted", 1)
    statuses = [record.outcome.status for record in world.keeper.records]
    assert statuses == [Status.FINISHED] * 2 + [Status.INTERRUPTED] * 2
    assert not any(child.alive for child in world.engine.children)


def test_an_interrupt_after_the_last_turn_loses_nothing(world: World) -> None:
    world.engine.failures["b"] = interrupt_at("finish")
    ended = world.run([cell("a"), cell("b")], rounds=2)
    assert ended.reason == "interrupted"
    assert [record.outcome.status for record in ended.records] == [Status.FINISHED] * 2


def test_a_store_that_fails_leaves_no_child(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(record: TrialRecord, study_id: str | None = None) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(world.keeper, "put_trial", full)
    with pytest.raises(OSError, match="disk full"):
        world.run([cell("a"), cell("b")])
    assert not any(child.alive for child in world.engine.children)


def test_resuming_runs_only_what_is_missing(world: World) -> None:
    cells = [cell("a"), cell("b")]
    kept = world.run(cells, rounds=2).records
    again = World()
    ended = again.run(cells, kept, rounds=3)
    assert len(again.keeper.kept) == 2
    assert {record.round for record in again.keeper.records} == {2}
    assert (ended.rounds, len(ended.records)) == (3, 6)


def test_a_half_stored_round_is_run_again_under_a_new_number(world: World) -> None:
    cells = [cell("a"), cell("b")]
    kept = world.run(cells, rounds=2).records[:3]
    again = World()
    again.run(cells, kept, rounds=2)
    assert {record.round for record in again.keeper.records} == {2}


def test_resuming_in_another_environment_is_refused_before_anything_is_stored(world: World) -> None:
    kept = world.run([cell("a")], rounds=1).records
    again = World()
    again.meters.version = "2"
    with pytest.raises(EnvironmentChangedError):
        again.run([cell("a")], kept, rounds=2)
    assert again.keeper.kept == []
    assert not any(child.alive for child in again.engine.children)


def test_the_time_budget_ends_the_study_before_a_round_that_would_not_fit(world: World) -> None:
    one_round_s = 2.0 + TRAINED_S
    ended = world.run([cell("a")], rounds=100, time_budget_s=3.5 * one_round_s)
    assert (ended.rounds, ended.reason) == (3, "budget")


def test_a_budget_that_is_too_small_still_gets_one_round(world: World) -> None:
    assert world.run([cell("a")], rounds=5, time_budget_s=0.1).rounds == 1


def test_within_goes_on_past_the_usual_rounds_and_stops_when_narrow(world: World) -> None:
    widths = iter([0.05, 0.04, 0.03, 0.02, 0.01])
    ended = world.run([cell("a")], rounds=3, within=0.02, width=lambda records: next(widths))
    assert (ended.rounds, ended.reason, ended.reached_width) == (6, "within", 0.02)


def test_without_within_the_width_is_only_told(world: World) -> None:
    ended = world.run([cell("a")], rounds=3, width=lambda records: 0.2)
    assert (ended.rounds, ended.reason, ended.reached_width) == (3, "rounds", 0.2)


def test_cells_with_loader_workers_take_one_long_turn_at_the_end(world: World) -> None:
    world.run([cell("a", loader_workers=2), cell("b")], rounds=1)
    assert world.engine.log == [("b", 0), ("b", 1), ("b", 2), ("b", 3), ("a", 0), ("a", 1)]
    turns = world.keeper.records[0].turns
    assert [turn.steps for turn in turns] == [10, 15]


def test_slow_steps_stretch_their_turns_within_reason(world: World) -> None:
    steps = {"slow": 0.2, "glacial": 1.0}
    world.engine.step_s = lambda child: steps[child.name]
    slow, glacial = world.run([cell("slow"), cell("glacial")], rounds=1, effort=EFFORT_OF_LONG_STEPS).records
    assert [turn.steps for turn in slow.turns[1:]] == [5, 5]
    assert [turn.steps for turn in glacial.turns[1:]] == [2, 2]


def test_a_number_of_steps_replaces_the_seconds(world: World) -> None:
    (record,) = world.run([cell("a")], rounds=1, effort=Effort(warmup_s=0.1, turns=3, max_steps=100)).records
    assert [turn.steps for turn in record.turns] == [5, 34, 34, 34]


def test_cells_that_do_not_fit_together_run_in_groups_with_own_round_numbers(world: World) -> None:
    world.meters.available = 2.6e9
    world.run([cell("a"), cell("b"), cell("c")], rounds=1)
    assert sorted((record.round, record.spec.levers["name"]) for record in world.keeper.records) == [
        *[(0, "a"), (0, "c"), (1, "b")]
    ]


def test_a_cell_the_kernel_ended_for_memory_is_tried_alone(world: World) -> None:
    def fail(child: FakeChild, moment: str) -> None:
        if moment == "turn 1" and sum(one.alive for one in world.engine.children) > 1:
            child.alive = False
            raise ChildEndedError(Outcome(status=Status.OUT_OF_MEMORY, signal="SIGKILL"))

    world.engine.failures["b"] = fail
    ended = world.run([cell("a"), cell("b")], rounds=1)
    assert (ended.rounds, ended.reason) == (1, "rounds")
    assert [record.outcome.status for record in ended.records if record.spec.levers["name"] == "b"] == [
        *[Status.OUT_OF_MEMORY, Status.FINISHED]
    ]
