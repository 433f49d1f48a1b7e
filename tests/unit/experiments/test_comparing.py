"""Two stored runs side by side, with the rules of any other study."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_trials import trial

from pacenote.errors import UsageError
from pacenote.experiments import comparing
from pacenote.records import Cell, Environment, Finding, Severity, Study, TrialSpec
from pacenote.store import Store

PROCESSES = 4


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


def keep_run(store: Store, name: str, *, ms: float, labels: tuple[str, ...] = ("b32",), **changes: Any) -> Study:
    """A run whose every step lasted ``ms``, a little differently in each process."""
    facts = {"cpu_model": "x", "affinity_cpus": 2, **changes.pop("facts", {})}
    environment = store.put_environment(Environment(facts=facts))
    cells = [
        Cell(label=label, spec=TrialSpec(workload="lenet", framework="pytorch", levers={"batch_size": 32 + at}))
        for at, label in enumerate(labels)
    ]
    study = Study(
        id=f"{name:0<20}",
        name=changes.pop("title", name),
        question="run",
        created_unix_s=float(len(store.studies(None))),
        cells=cells,
        axes=["batch_size"] if len(cells) > 1 else [],
        environment_hash=environment,
        finished=True,
    )
    store.put_study(study)
    for cell in cells:
        for process in range(PROCESSES):
            step_s = ms / 1000 * (1 + 0.002 * (process - 1.5))
            made = trial(
                [[step_s] * 20] * 4,
                id=f"{name}-{cell.label}-{process}",
                spec=cell.spec,
                round=process,
                environment_hash=environment,
                **changes,
            )
            store.put_trial(made, study.id)
    return store.get_study(study.id)


def found(study: Study, code: str) -> Finding:
    return next(finding for finding in study.findings if finding.code == code)


def test_a_faster_run_is_seen_with_an_interval_that_is_not_paired(store: Store) -> None:
    keep_run(store, "before", ms=10.0)
    keep_run(store, "after", ms=8.0)
    study = comparing.run(store, "before", "after")
    ratio = found(study, "ratio")
    assert ratio.params["speedup"] == pytest.approx(1.25, rel=0.01)
    assert ratio.params["low"] < 1.25 < ratio.params["high"]
    assert ratio.params["paired"] is False
    assert (ratio.params["baseline"], ratio.params["cell"]) == ("before: b32", "after: b32")
    assert found(study, "verdict_fastest").params["baseline"] == "before: b32"
    assert found(study, "not_interleaved").severity is Severity.WARNING


def test_the_answer_is_kept_as_a_study(store: Store) -> None:
    before, after = keep_run(store, "before", ms=10.0), keep_run(store, "after", ms=8.0)
    study = comparing.run(store, "before", "after")
    kept = store.get_study("last")
    assert kept == msgspec.structs.replace(study, trial_ids=kept.trial_ids)
    assert kept.options["runs"] == [before.id, after.id]
    assert len(kept.trial_ids) == 2 * PROCESSES
    with pytest.raises(UsageError, match="itself a comparison"):
        comparing.run(store, "last", "before")


def test_only_conditions_of_the_same_name_are_compared(store: Store) -> None:
    keep_run(store, "before", ms=10.0, labels=("b32", "b64"))
    keep_run(store, "after", ms=8.0, labels=("b64", "b128"))
    study = comparing.run(store, "before", "after")
    assert [cell.label for cell in study.cells] == ["before: b64", "after: b64"]


def test_two_single_conditions_are_compared_whatever_they_are_called(store: Store) -> None:
    keep_run(store, "before", ms=10.0, labels=("pytorch",))
    keep_run(store, "after", ms=8.0, labels=("paddle",))
    assert len(comparing.run(store, "before", "after").cells) == 2


def test_nothing_in_common_says_what_each_run_has(store: Store) -> None:
    keep_run(store, "before", ms=10.0, labels=("b32", "b64"))
    keep_run(store, "after", ms=8.0, labels=("b1", "b2"))
    with pytest.raises(UsageError, match="before has b32, b64; after has b1, b2"):
        comparing.run(store, "before", "after")


def test_a_run_is_not_compared_with_itself(store: Store) -> None:
    keep_run(store, "before", ms=10.0)
    with pytest.raises(UsageError, match="the same run"):
        comparing.run(store, "before", "last")


def test_a_sick_side_gets_no_ratio_unless_forced(store: Store) -> None:
    keep_run(store, "before", ms=10.0, framework={"debug_flags": {"anomaly_mode": True}})
    keep_run(store, "after", ms=8.0)
    refused = comparing.run(store, "before", "after")
    assert found(refused, "ratio_refused").params["side"] == "baseline"
    assert not [finding for finding in refused.findings if finding.code == "ratio"]
    forced = comparing.run(store, "before", "after", force=True)
    assert found(forced, "ratio_forced").params["reasons"] == ["debug_mode"]


def test_what_differs_between_the_machines_is_named(store: Store) -> None:
    keep_run(store, "before", ms=10.0, facts={"framework": {"name": "pytorch", "version": "2.6"}})
    keep_run(store, "after", ms=8.0, facts={"cpu_model": "y", "framework": {"name": "pytorch", "version": "2.13"}})
    study = comparing.run(store, "before", "after")
    assert found(study, "runs_differ").params["facts"] == ["cpu_model", "framework version"]


def test_equal_machines_differ_in_nothing(store: Store) -> None:
    keep_run(store, "before", ms=10.0)
    keep_run(store, "after", ms=8.0)
    study = comparing.run(store, "before", "after")
    assert not [finding for finding in study.findings if finding.code == "runs_differ"]


def test_runs_of_one_name_are_told_apart_by_their_ids(store: Store) -> None:
    keep_run(store, "11111111", ms=10.0, title="same")
    keep_run(store, "22222222", ms=8.0, title="same")
    study = comparing.run(store, "last~1", "last")
    assert [cell.label for cell in study.cells] == ["11111111: b32", "22222222: b32"]
