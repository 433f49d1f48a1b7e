"""The time in no phase is told by the phases on both sides of it."""

from __future__ import annotations

from typing import Any

import pytest
from fake_trials import Script, trial

from pacenote.between import Place, places
from pacenote.child import events
from pacenote.findings import judge
from pacenote.records import Cell, Finding, Study, TrialSpec
from pacenote.stats import summarize


def step(script: Script, before_forward: int = 0, before_data: int = 0) -> Script:
    """One step of 400 ns with a stretch in no phase before its forward pass and one after its update."""
    script.span("data_wait", 100).wait(before_forward)
    script.span("forward", 100).span("backward", 100).span("optimizer", 100)
    return script.wait(before_data)


def found(script: Script) -> list[tuple[str, str, int]]:
    return [(one.after, one.before, round(one.seconds * 1e9)) for one in places(script.log())]


def test_the_longest_place_comes_first_with_its_share() -> None:
    script = Script()
    for _ in range(3):
        step(script, before_forward=300, before_data=700)
    script.span("data_wait", 100)
    assert places(script.log()) == [
        Place("optimizer", "data_wait", pytest.approx(2_100e-9), pytest.approx(0.7)),
        Place("data_wait", "forward", pytest.approx(900e-9), pytest.approx(0.3)),
    ]


def test_what_lies_before_the_first_and_after_the_last_phase_is_none() -> None:
    assert found(step(Script().wait(5_000)).wait(5_000)) == []


def test_phases_that_touch_leave_no_place() -> None:
    assert found(step(step(Script()))) == []


def test_nested_phases_are_one() -> None:
    script = Script().begin("forward").wait(10).span("loss", 10).wait(40)
    script.end("forward").wait(25).span("backward", 10)
    assert found(script) == [("forward", "backward", 25)]


def test_an_evaluation_is_not_training() -> None:
    script = step(Script()).wait(50).span("data_wait", 10, grad=False).wait(60).span("forward", 10, grad=False).wait(70)
    script.span("loss", 10, grad=False).wait(80).span("data_wait", 10, grad=False)
    assert found(step(script.wait(90), before_forward=30)) == [("data_wait", "forward", 30)]


@pytest.mark.parametrize(
    "kinds",
    [
        (events.PAUSE, events.RESUME),
        (events.AWAY_BEGIN, events.AWAY_END),
        (events.DEPTH_BEGIN, events.DEPTH_END),
    ],
    ids=["pause", "away", "depth"],
)
def test_our_own_work_and_pauses_are_left_out(kinds: tuple[int, int]) -> None:
    script = step(Script()).wait(40).event(kinds[0]).wait(9_000).event(kinds[1]).wait(40)
    assert found(step(script, before_forward=20)) == [("data_wait", "forward", 20)]


def test_steps_in_depth_are_slower_and_do_not_count() -> None:
    script = step(Script(), before_forward=20).event(events.DEPTH_BEGIN)
    step(script, before_forward=5_000).event(events.DEPTH_END)
    assert found(step(script, before_forward=10)) == [("data_wait", "forward", 30)]


def test_a_span_of_the_user_hides_nothing() -> None:
    script = Script().begin("user").span("data_wait", 10).wait(30).span("forward", 10).end("user")
    assert found(script) == [("data_wait", "forward", 30)]


def told(script: Script) -> dict[str, Finding]:
    """What is said of a script that left these events."""
    spec = TrialSpec(workload="script", framework="pytorch")
    record = trial([[1e-3]], spec=spec, events=script.log())
    study = Study(
        id="s",
        question="script",
        created_unix_s=0.0,
        cells=[Cell(label="c0", spec=spec)],
        axes=[],
        baseline="c0",
        options={},
    )
    return {one.code: one for one in judge(study, [record], [summarize(record)])}


def training(**gaps: Any) -> Script:
    script = Script()
    for _ in range(40):
        step(script, **gaps)
    return script


def test_much_time_in_no_phase_is_named_by_its_place() -> None:
    params = told(training(before_data=400, before_forward=100))["unattributed_place"].params
    assert (params["after"], params["before"]) == ("optimizer", "data_wait")
    assert params["share"] == pytest.approx(0.8, abs=0.01)
    assert (params["second_after"], params["second_before"]) == ("data_wait", "forward")


def test_one_place_alone_has_no_second() -> None:
    params = told(training(before_data=400))["unattributed_place"].params
    assert params["share"] == 1.0
    assert params["second_after"] is params["second_before"] is params["second_share"] is None


def test_little_time_in_no_phase_is_not_worth_a_word() -> None:
    assert "unattributed_place" not in told(training(before_data=4))
