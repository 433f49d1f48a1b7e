"""A summary is made once, kept, and judged together with the machine it was made on."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from sick_trials import healthy, steps_s

from pacenote import findings, stats
from pacenote.experiments.judging import Judge
from pacenote.records import Cell, Environment, Finding, Study, TrialRecord, TrialSpec
from pacenote.stats import TrialSummary

SPECS = [TrialSpec(workload="lenet", framework=name, levers={"threads": 4}) for name in ("pytorch", "paddle")]
STUDY = Study(
    id="s",
    question="run",
    created_unix_s=0.0,
    cells=[Cell(label=spec.framework, spec=spec) for spec in SPECS],
    axes=["framework"],
    baseline="pytorch",
)


class Keeper:
    """Remembers what it was given."""

    def __init__(self, **environments: Environment) -> None:
        self.environments = environments
        self.kept: list[tuple[str, int, Any]] = []
        self.asked: list[str] = []

    def put_summary(self, trial_id: str, version: int, summary: msgspec.Struct) -> None:
        self.kept.append((trial_id, version, summary))

    def get_environment(self, key: str) -> Environment | None:
        self.asked.append(key)
        return self.environments.get(key)


def some(rounds: int = 3, **changes: Any) -> list[TrialRecord]:
    return [
        healthy(
            spec=spec,
            steps=steps_s(level_s=level_s * (1 + 0.01 * number), seed=number),
            round=number,
            id=f"{spec.framework}-{number}",
            **changes,
        )
        for spec, level_s in zip(SPECS, (5e-3, 10e-3), strict=True)
        for number in range(rounds)
    ]


def test_a_summary_is_made_once_and_kept_under_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    summarize = stats.summarize

    def counted(record: TrialRecord) -> TrialSummary:
        made.append(record.id)
        return summarize(record)

    monkeypatch.setattr(stats, "summarize", counted)
    keeper = Keeper()
    judge, records = Judge(keeper), some()
    judge.widest(STUDY, records[:3])
    judge.widest(STUDY, records)
    judge.judged(STUDY, records)
    assert made == [record.id for record in records]
    assert [(name, version) for name, version, _ in keeper.kept] == [(name, stats.STATISTICS_VERSION) for name in made]
    assert judge.summary(records[0]) is keeper.kept[0][2]


def test_the_width_is_the_one_that_the_rules_report() -> None:
    records = some()
    summaries = [stats.summarize(record) for record in records]
    assert Judge(Keeper()).widest(STUDY, records) == findings.reached_width(STUDY, records, summaries)
    assert Judge(Keeper()).widest(STUDY, some(1)) is None
    assert Judge(Keeper()).widest(STUDY, []) is None


def test_a_trial_without_a_turn_is_not_summarised() -> None:
    keeper = Keeper()
    died = [msgspec.structs.replace(record, turns=[]) for record in some(1)]
    study = Judge(keeper).judged(STUDY, died)
    assert keeper.kept == []
    assert [finding.code for finding in study.findings if finding.code.startswith("ratio")] == ["ratio_refused"]


def test_the_machine_is_that_of_the_first_record_that_knows_it() -> None:
    keeper = Keeper(e7=Environment(facts={"variables": {"CUDA_LAUNCH_BLOCKING": "1"}}))
    records = some()
    unknown = msgspec.structs.replace(records[0], environment_hash="")
    rest = [msgspec.structs.replace(record, environment_hash="e7") for record in records[1:]]
    study = Judge(keeper).judged(STUDY, [unknown, *rest])
    assert (keeper.asked, study.environment_hash) == (["e7"], "e7")
    assert "debug_mode" in {finding.code for finding in study.findings}


def test_without_an_environment_nothing_is_asked_for() -> None:
    keeper = Keeper()
    study = Judge(keeper).judged(STUDY, some(environment_hash=""))
    assert (keeper.asked, study.environment_hash) == ([], "")


def test_only_the_conclusions_of_a_study_change() -> None:
    old = msgspec.structs.replace(STUDY, findings=[Finding(code="stale")], rules_version=0)
    study = Judge(Keeper()).judged(old, some())
    assert study.rules_version == findings.RULES_VERSION
    assert "stale" not in {finding.code for finding in study.findings}
    plain = {"findings": [], "rules_version": 0, "environment_hash": ""}
    assert msgspec.structs.replace(study, **plain) == msgspec.structs.replace(old, **plain)
