"""What the main job does when the machine is not the one that an unfinished study began on, or is stopped early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pacenote.experiments import calibration, sweep
from pacenote.plan import RunOptions
from pacenote.records import Effort, Study, TrialRecord
from pacenote.runner import progress
from pacenote.runner.group import EnvironmentChangedError
from pacenote.runner.rounds import Ended
from pacenote.store import Store

SHORT = Effort(warmup_s=0.05, turn_s=0.05, turns=4, timeout_s=60)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


def options(**changes: Any) -> RunOptions:
    usual: dict[str, Any] = {
        "workload": "simulated",
        "frameworks": ["simulated"],
        "axes": {"batch_size": [32]},
        "rounds": 2,
        "effort": SHORT,
    }
    return RunOptions(**{**usual, **changes})


def stop_at_second_round(event: progress.Event) -> None:
    if isinstance(event, progress.RoundStarted) and event.round == 1:
        raise KeyboardInterrupt


def test_another_environment_begins_a_study_of_its_own(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sweep.run(options(), store, stop_at_second_round)
    measure, seen = sweep._measure, list[tuple[str, int]]()

    def refusing(asked: RunOptions, study: Study, kept: list[TrialRecord], **more: Any) -> Ended:
        seen.append((study.id, len(kept)))
        if kept:
            raise EnvironmentChangedError("the framework is a newer one")
        return measure(asked, study, kept, **more)

    monkeypatch.setattr(sweep, "_measure", refusing)
    second = sweep.run(options(), store)
    assert seen == [(first.id, 1), (second.id, 0)]
    assert second.id != first.id
    assert second.finished
    assert len(second.trial_ids) == 2
    assert not store.get_study(first.id).finished


def test_stopped_while_the_ceilings_are_measured_keeps_what_there_was(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = sweep.run(options(), store, stop_at_second_round)

    def stopped(*_: Sequence[Any], **__: Any) -> dict[str, Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr(calibration, "ceilings_of", stopped)
    again = sweep.run(options(), store)
    assert (again.id, again.finished) == (first.id, False)
    assert (again.options["stopped"], again.options["rounds_done"]) == ("interrupted", 1)
    assert again.trial_ids == first.trial_ids
    assert "cell_time" in {finding.code for finding in again.findings}


def test_stopped_before_anything_is_an_unfinished_study_without_findings_about_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Sequence[Any], **__: Any) -> dict[str, Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr(calibration, "ceilings_of", stopped)
    study = sweep.run(options(), store)
    assert (study.finished, study.trial_ids, study.options["rounds_done"]) == (False, [], 0)
    assert "cell_time" not in {finding.code for finding in study.findings}
    assert store.get_study("last") == study
