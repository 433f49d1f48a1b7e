"""The runner interrupted, starved and surprised at every stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from scripted import FakeChild, FakeClock, FakeEngine, FakeKeeper, FakeMeters, ends_with

from pacenote import segment
from pacenote.engines import ChildEndedError
from pacenote.records import Cell, Effort, Outcome, Status, Study, TrialRecord, TrialSpec
from pacenote.runner import Ended, Parts, Runner, Settings, group, progress
from pacenote.runner.group import EnvironmentChangedError
from pacenote.runner.rounds import MAX_ROUNDS, MIN_ROUNDS_FOR_WIDTH

EFFORT = Effort(warmup_s=0.2, turn_s=0.1, turns=3)
MOMENTS = ["ready", *(f"turn {number}" for number in range(4)), "begin_finish", "finish"]


def cell(name: str, **levers: Any) -> Cell:
    spec = TrialSpec(workload="lenet", framework="simulated", levers={"name": name, "batch_size": 32, **levers})
    return Cell(label=name, spec=spec)


class World:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.engine = FakeEngine(self.clock)
        self.keeper = FakeKeeper()
        self.meters = FakeMeters(self.clock)
        self.events: list[progress.Event] = []

    def run(self, cells: Sequence[Cell], kept: Sequence[TrialRecord] = (), **settings: Any) -> Ended:
        parts = Parts(
            engine=self.engine, keeper=self.keeper, meters=self.meters, clock=self.clock, tell=self.events.append
        )
        study = Study(id="s1", question="run", created_unix_s=0.0, cells=list(cells))
        more = {name: settings.pop(name) for name in ("width", "ceilings") if name in settings}
        spent = {"spent_s": settings.pop("spent_s")} if "spent_s" in settings else {}
        made = Settings(**{"effort": EFFORT, "machine_id": "m1", **settings})
        return Runner(study, parts, made, **more).run(kept, **spent)

    def statuses(self, name: str) -> list[Status]:
        return [one.outcome.status for one in self.keeper.records if one.spec.levers["name"] == name]

    def living(self) -> list[str]:
        return [child.name for child in self.engine.children if child.alive]

    def told(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def world() -> World:
    return World()


def once(moment: str, error: Callable[[], BaseException]) -> Callable[[FakeChild, str], None]:
    """Raise at a moment, the first time only."""
    seen: list[str] = []

    def fail(child: FakeChild, now: str) -> None:
        if now == moment and not seen:
            seen.append(now)
            raise error()

    return fail


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupt_at_any_moment_leaves_one_record_per_child_and_no_child(world: World, moment: str) -> None:
    world.engine.failures["b"] = once(moment, KeyboardInterrupt)
    ended = world.run([cell("a"), cell("b"), cell("c")], rounds=4)
    assert ended.reason == "interrupted"
    assert world.living() == []
    assert len(world.keeper.records) == len(world.engine.children)
    assert {one.outcome.status for one in world.keeper.records} <= {Status.FINISHED, Status.INTERRUPTED}
    for record in world.keeper.records:
        complete = len(record.turns) == EFFORT.turns + 1
        assert (record.outcome.status is Status.FINISHED) == complete
    assert world.told(progress.StudyEnded)[-1].reason == "interrupted"


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_study_interrupted_at_any_moment_is_completed_by_resuming(world: World, moment: str) -> None:
    cells = [cell("a"), cell("b")]
    world.engine.failures["b"] = once(moment, KeyboardInterrupt)
    kept = world.run(cells, rounds=2).records
    again = World()
    ended = again.run(cells, kept, rounds=2)
    assert (ended.reason, ended.rounds) == ("rounds", 2)
    numbers = [(one.round, one.spec.levers["name"]) for one in ended.records]
    assert len(set(numbers)) == len(numbers), "a round number was used twice"


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("status", [Status.CRASHED, Status.KILLED])
def test_an_accident_at_any_moment_costs_one_trial(world: World, moment: str, status: Status) -> None:
    world.engine.failures["b"] = once(moment, lambda: ChildEndedError(Outcome(status=status)))
    ended = world.run([cell("a"), cell("b")], rounds=2)
    assert (ended.reason, ended.rounds) == ("rounds", 2)
    assert world.statuses("b").count(Status.FINISHED) == 2
    assert world.statuses("b").count(status) == 1
    assert world.living() in ([], ["b"])  # a child that ended by itself is not ours to end


def test_a_second_interrupt_while_the_first_is_handled_leaves_no_child(world: World) -> None:
    world.engine.failures["a"] = once("turn 3", KeyboardInterrupt)
    finishing = once("finish", KeyboardInterrupt)
    world.engine.failures["b"] = finishing
    ended = world.run([cell("a"), cell("b")], rounds=3)
    assert ended.reason == "interrupted"
    assert world.living() == []


def test_an_interrupt_while_children_still_start_stops_starting(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.engine.failures["a"] = once("ready", KeyboardInterrupt)
    world.run([cell(name) for name in "abcdef"], rounds=1)
    assert len(world.engine.children) == group.AT_ONCE
    assert world.engine.log == []


def test_only_a_few_children_import_at_once(world: World) -> None:
    waiting: list[int] = []

    def look(child: FakeChild, moment: str) -> None:
        if moment == "ready":
            waiting.append(len(world.engine.children) - len(world.told(progress.TrialReady)))

    world.engine.failures = {name: look for name in "abcde"}
    world.run([cell(name) for name in "abcde"], rounds=1)
    assert max(waiting) == group.AT_ONCE


@pytest.mark.parametrize("place", ["put_environment", "put_trial"])
def test_a_store_that_breaks_at_any_call_leaves_no_child(
    world: World, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    original, calls = getattr(world.keeper, place), []

    def breaking(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 2:
            raise OSError("disk full")
        return original(*arguments)

    monkeypatch.setattr(world.keeper, place, breaking)
    with pytest.raises(OSError, match="disk full"):
        world.run([cell("a"), cell("b"), cell("c")], rounds=2)
    assert world.living() == []


def test_a_watcher_that_breaks_leaves_no_child(world: World) -> None:
    def tell(event: progress.Event) -> None:
        if isinstance(event, progress.TurnDone) and event.turn == 2:
            raise RuntimeError("broken screen")

    parts = Parts(engine=world.engine, keeper=world.keeper, meters=world.meters, clock=world.clock, tell=tell)
    study = Study(id="s", question="run", created_unix_s=0.0, cells=[cell("a"), cell("b")])
    with pytest.raises(RuntimeError, match="broken screen"):
        Runner(study, parts, Settings(effort=EFFORT)).run()
    assert world.living() == []


def test_every_watch_is_closed_whatever_happened(world: World) -> None:
    world.engine.failures["a"] = ends_with(Status.CRASHED, "turn 1")
    world.engine.failures["b"] = once("turn 2", KeyboardInterrupt)
    world.run([cell("a"), cell("b"), cell("c")], rounds=2)
    assert len(world.meters.watches) == len(world.engine.children)
    assert all("close" in watch.log for watch in world.meters.watches)


def test_an_environment_that_changes_between_two_rounds_of_one_run_shows_in_the_records(world: World) -> None:
    def change(child: FakeChild, moment: str) -> None:
        if moment == "finish":
            world.meters.version = "2"

    world.engine.failures["a"] = change
    world.run([cell("a")], rounds=2)
    assert len({record.environment_hash for record in world.keeper.records}) == 2


def test_a_resumed_study_refuses_another_environment_only_for_cells_it_kept(world: World) -> None:
    kept = world.run([cell("a")], rounds=1).records
    again = World()
    again.meters.version = "2"
    again.run([cell("b")], kept, rounds=1)
    assert again.statuses("b") == [Status.FINISHED]
    with pytest.raises(EnvironmentChangedError, match="a has changed"):
        again.run([cell("b"), cell("a")], kept, rounds=2)


def test_trials_that_never_got_ready_do_not_pin_the_environment(world: World) -> None:
    world.engine.failures["a"] = ends_with(Status.CRASHED, "ready")
    kept = world.run([cell("a")], rounds=1).records[:1]
    assert kept[0].environment_hash == ""
    again = World()
    again.meters.version = "2"
    assert again.run([cell("a")], kept, rounds=1).reason == "rounds"


@pytest.mark.parametrize(
    ("available", "count", "sizes"),
    [(None, 5, [5]), (1e12, 5, [5]), (2.6e9, 5, [2, 2, 1]), (1e6, 3, [1, 1, 1]), (3.8e9, 4, [2, 2])],
)
def test_groups_follow_the_memory_there_is(world: World, available: float | None, count: int, sizes: list[int]) -> None:
    world.meters.available = available
    world.run([cell(name) for name in "abcde"[:count]], rounds=1)
    rounds = [record.round for record in world.keeper.records]
    assert sorted((rounds.count(number) for number in set(rounds)), reverse=True) == sizes
    assert world.told(progress.StudyEnded) == [progress.StudyEnded(rounds=1, reason="rounds")]


def test_what_was_measured_replaces_what_was_assumed(world: World) -> None:
    """The first round assumes a gigabyte each; the children turn out to need a few MiB."""
    world.meters.available = 1.3e9
    world.run([cell("a"), cell("b")], rounds=2)
    assert sorted(record.round for record in world.keeper.records) == [0, 1, 2, 2]


@pytest.mark.parametrize(("budget_s", "rounds"), [(0.0, 1), (2.4, 1), (5.1, 2), (1e9, 7)])
def test_a_budget_holds_whole_rounds(world: World, budget_s: float, rounds: int) -> None:
    ended = world.run([cell("a")], rounds=7, time_budget_s=budget_s)
    assert ended.rounds == rounds
    assert ended.reason == ("rounds" if rounds == 7 else "budget")


def test_time_already_spent_counts_when_resuming(world: World) -> None:
    kept = world.run([cell("a")], rounds=1).records
    again = World()
    ended = again.run([cell("a")], kept, rounds=9, time_budget_s=10.0, spent_s=9.9)
    assert (ended.rounds, ended.reason, again.engine.children) == (1, "budget", [])


def test_a_width_that_is_never_reached_ends_somewhere(world: World) -> None:
    ended = world.run([cell("a")], within=0.001, width=lambda records: 0.5)
    assert (ended.rounds, ended.reason, ended.reached_width) == (MAX_ROUNDS, "rounds", 0.5)


def test_a_width_that_cannot_be_told_is_no_reason_to_stop(world: World) -> None:
    ended = world.run([cell("a")], within=0.02, time_budget_s=15.0, width=lambda records: None)
    assert (ended.reason, ended.reached_width) == ("budget", None)
    assert ended.rounds > MIN_ROUNDS_FOR_WIDTH


def test_a_narrow_start_is_not_believed(world: World) -> None:
    ended = world.run([cell("a")], within=0.02, width=lambda records: 0.0)
    assert (ended.rounds, ended.reason) == (MIN_ROUNDS_FOR_WIDTH, "within")


def test_long_turns_of_loaders_with_workers_come_after_all_short_ones(world: World) -> None:
    world.run(
        [cell("w1", loader_workers=1), cell("a"), cell("w4", loader_workers=4), cell("b", loader_workers=0)], rounds=2
    )
    for start in (0, 12):
        names = [name for name, _ in world.engine.log[start : start + 12]]
        assert set(names[:8]) == {"a", "b"}
        assert [turn for _, turn in world.engine.log[start + 8 : start + 12]] == [0, 1, 0, 1]
        assert names[8] == names[9] != names[10] == names[11]


def test_a_long_turn_that_fails_costs_only_its_cell(world: World) -> None:
    world.engine.failures["w"] = ends_with(Status.OUT_OF_MEMORY, "turn 1")
    world.run([cell("a"), cell("w", loader_workers=2), cell("v", loader_workers=2)], rounds=1)
    assert (world.statuses("w"), world.statuses("v")) == ([Status.OUT_OF_MEMORY], [Status.FINISHED])


@pytest.mark.parametrize(("step_s", "steps"), [(0.001, 100), (0.02, 5), (0.05, 5), (0.16, 5), (0.4, 2), (30.0, 1)])
def test_turns_stretch_for_slow_steps_up_to_a_limit(world: World, step_s: float, steps: int) -> None:
    world.engine.step_s = lambda child: step_s
    (record,) = world.run([cell("a")], rounds=1).records
    assert [turn.steps for turn in record.turns[1:]] == [steps] * EFFORT.turns
    assert len(segment.segment(record.events).total_s) == sum(turn.steps for turn in record.turns)


def test_a_resumed_study_that_is_complete_starts_nothing(world: World) -> None:
    kept = world.run([cell("a")], rounds=2).records
    again = World()
    ended = again.run([cell("a")], kept, rounds=2)
    assert (ended.rounds, ended.reason, ended.records) == (2, "rounds", kept)
    assert again.engine.children == []


def test_a_study_without_cells_ends_at_once(world: World) -> None:
    assert world.run([]).reason == "nothing_left"
