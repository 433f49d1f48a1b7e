"""The main job with real child processes of the simulated framework, and its refusals without any."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pacenote.engines import Message
from pacenote.engines.local import LocalChild, LocalEngine
from pacenote.errors import DataError, MeasurementError, MissingPartError, UnknownNameError, UsageError
from pacenote.experiments import selftest, sweep
from pacenote.plan import RunOptions
from pacenote.records import Effort, Outcome, Status, Study
from pacenote.runner import progress
from pacenote.store import Store

SHORT = Effort(warmup_s=0.05, turn_s=0.05, turns=4, timeout_s=60)
MACHINE = {"machine_id": "m", "physical_cores": 2, "affinity_cpus": 2, "quota_cpus": None}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


def options(**changes: Any) -> RunOptions:
    usual: dict[str, Any] = {
        "workload": "simulated",
        "frameworks": ["simulated"],
        "axes": {"batch_size": [32], "noise": [0.02]},
        "rounds": 2,
        "effort": SHORT,
    }
    return RunOptions(**{**usual, **changes})


class FaultyEngine(LocalEngine):
    """Breaks the children whose number is listed."""

    def __init__(self, fault: dict[str, Any], numbers: set[int]) -> None:
        self.fault, self.numbers, self.count = fault, numbers, 0

    def start(self, job: Message, *, python: str | None, environ: dict[str, str]) -> LocalChild:
        fault = self.fault if self.count in self.numbers else None
        self.count += 1
        return super().start({**job, "fault": fault}, python=python, environ=environ)


def codes(study: Study) -> set[str]:
    return {finding.code for finding in study.findings}


def test_a_study_is_measured_judged_and_kept(store: Store) -> None:
    told: list[progress.Event] = []
    scripts = ["forward=2ms backward=3ms optimizer=1ms", "forward=1ms backward=1ms optimizer=1ms"]
    asked = options(axes={"script": scripts, "batch_size": [32]}, rounds=3, name="two", command=["pacenote", "run"])
    study = sweep.run(asked, store, told.append)
    assert study.finished
    assert (study.options["stopped"], study.options["rounds_done"]) == ("rounds", 3)
    assert store.get_study("two") == study
    records = store.trials(study.id)
    assert [record.outcome.status for record in records] == [Status.FINISHED] * 6
    assert study.trial_ids == [record.id for record in records]
    assert (study.axes, study.baseline) == (["script"], study.cells[0].label)
    assert store.get_environment(study.environment_hash) is not None
    ratio = next(finding for finding in study.findings if finding.code in ("ratio", "ratio_refused"))
    if ratio.code == "ratio":
        assert ratio.params["speedup"] == pytest.approx(2.0, rel=1e-3)
    assert isinstance(told[0], progress.StudyStarted)
    assert isinstance(told[-1], progress.StudyEnded)


def test_an_interrupted_study_resumes(store: Store) -> None:
    def stop(event: progress.Event) -> None:
        if isinstance(event, progress.RoundStarted) and event.round == 1:
            raise KeyboardInterrupt

    first = sweep.run(options(rounds=3), store, stop)
    assert not first.finished
    assert (first.options["stopped"], len(first.trial_ids)) == ("interrupted", 1)
    told: list[progress.Event] = []
    second = sweep.run(options(rounds=3), store, told.append)
    assert (second.id, second.finished) == (first.id, True)
    assert second.trial_ids[:1] == first.trial_ids
    assert len(second.trial_ids) == 3
    started = told[0]
    assert isinstance(started, progress.StudyStarted)
    assert started.rounds_kept == 1


def test_fresh_does_not_resume_and_a_finished_study_is_not_continued(store: Store) -> None:
    ids = {sweep.run(options(rounds=1), store).id, sweep.run(options(rounds=1), store).id}

    def stop(event: progress.Event) -> None:
        if isinstance(event, progress.TrialReady):
            raise KeyboardInterrupt

    ids.add(sweep.run(options(rounds=1), store, stop).id)
    ids.add(sweep.run(options(rounds=1, resume=False), store).id)
    assert len(ids) == 4


def test_a_study_of_another_version_or_day_is_not_continued(store: Store) -> None:
    def stop(event: progress.Event) -> None:
        if isinstance(event, progress.TrialReady):
            raise KeyboardInterrupt

    for changes in ({"version": "0.0.0"}, {"created_unix_s": 1e9}, {"machine_id": "other"}):
        old = sweep.run(options(), store, stop)
        store.put_study(msgspec.structs.replace(old, **changes))
        assert sweep.run(options(rounds=1), store).id != old.id


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ({"kind": "memory_error", "at": "build"}, Status.OUT_OF_MEMORY),
        ({"kind": "segfault", "at": "step", "step": 3}, Status.CRASHED),
        ({"kind": "kill", "at": "step", "step": 3}, Status.KILLED),
        ({"kind": "exit", "at": "start"}, Status.CRASHED),
    ],
)
def test_one_sick_cell_does_not_stop_the_others(store: Store, fault: dict[str, Any], status: Status) -> None:
    asked = options(axes={"batch_size": [1, 2]}, rounds=1)
    study = sweep.run(asked, store, engine=FaultyEngine(fault, {0, 2}))
    statuses = [(record.spec.levers["batch_size"], record.outcome.status) for record in store.trials(study.id)]
    assert (1, status) in statuses
    assert (2, Status.FINISHED) in statuses
    assert "trial_failed" in codes(study)


def test_nothing_finished_is_an_error_but_the_study_is_kept(store: Store) -> None:
    with pytest.raises(MeasurementError, match="a fault was planted here"):
        sweep.run(options(), store, engine=FaultyEngine({"kind": "exception", "at": "build"}, {0, 1, 2}))
    kept = store.get_study("last")
    assert kept.finished
    assert "trial_failed" in codes(kept)


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (Outcome(status=Status.CRASHED, error_type="DataError", error_text="data_batch_1.bin is short"), DataError),
        (Outcome(status=Status.MISSING, error_text="no_device"), MissingPartError),
        (Outcome(status=Status.HUNG, error_text="no 'turn' message"), MeasurementError),
    ],
)
def test_what_nothing_finished_is_called(outcome: Outcome, error: type[Exception]) -> None:
    import fake_trials

    raised = sweep.nothing_finished([fake_trials.trial([[0.1]], outcome=outcome)])
    assert type(raised) is error
    assert "\n" not in str(raised)
    assert isinstance(sweep.nothing_finished([]), MeasurementError)


def test_the_time_budget_is_the_studys_and_counts_what_came_before(store: Store) -> None:
    study = sweep.run(options(rounds=50, time_budget_s=0.001), store)
    assert (study.options["stopped"], study.options["rounds_done"]) == ("budget", 1)


def test_levers_are_filled_in_from_workload_and_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sweep.offer, "find", lambda options: sweep.offer.Offer(frameworks=["pytorch"], devices={"pytorch": ["cpu"]})
    )
    prepared = sweep.prepare(RunOptions(workload="lenet"), MACHINE)
    assert [cell.label for cell in prepared.cells] == ["b32", "b256"]
    levers = prepared.cells[0].spec.levers
    assert (levers["threads"], levers["dtype"], levers["loader_workers"]) == (2, "fp32", 0)
    assert prepared.estimate.trials == 10
    one = sweep.prepare(RunOptions(workload="lenet", axes={"batch_size": [8], "threads": [1, 2]}), MACHINE)
    assert [cell.label for cell in one.cells] == ["t1", "t2"]


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"workload": "lennet"}, UnknownNameError, "Did you mean 'lenet'"),
        ({"workload": "simplenet", "data_mode": "loader"}, UsageError, "no data mode"),
        ({"axes": {"batchsize": [1]}}, UnknownNameError, "batch_size"),
        ({"workload": "simplenet", "axes": {"loader_workers": [1]}}, UsageError, "no --loader-workers"),
        ({"rounds": 0}, UsageError, "at least one round"),
    ],
)
def test_options_that_cannot_run_are_refused_before_anything_starts(
    changes: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        sweep.check(RunOptions(**{"workload": "lenet", **changes}))


def test_a_self_test_sees_what_it_planted(store: Store) -> None:
    study = selftest.run(store, framework="simulated", planted=(1.5,), rounds=3, effort=SHORT)
    assert [cell.label for cell in study.cells] == ["A", "A2", "A×1.50"]
    assert len({cell.spec.hash() for cell in study.cells}) == 3
    records = store.trials(study.id)
    assert {record.ceiling_flops.reason for record in records} == {"not_calibrated"}
    seen = {finding.subject: finding.params for finding in study.findings if finding.code == "planted_seen"}
    healthy = not any(finding.severity.value == "unhealthy" for finding in study.findings)
    if healthy:
        assert seen["A×1.50"]["measured"] == pytest.approx(1.5, rel=1e-6)


def test_a_self_test_needs_one_condition() -> None:
    prepared = sweep.prepare(options(axes={"batch_size": [1, 2]}), MACHINE)
    with pytest.raises(UsageError, match="one condition"):
        selftest.cells_of(options(), prepared)
