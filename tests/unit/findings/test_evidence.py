"""Which trials count, which are left out, and how findings of several trials become one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from sick_trials import healthy

from pacenote.findings.evidence import Evidence, gather
from pacenote.findings.health import CHECKS, unhealthy, warning
from pacenote.records import Cell, Environment, Finding, Outcome, Severity, Status, Study, TrialRecord, TrialSpec
from pacenote.registry import DuplicatePartError, Registry
from pacenote.stats import TrialSummary, summarize

SPEC = TrialSpec(workload="lenet", framework="pytorch", levers={"batch_size": 32, "threads": 4})
STUDY = Study(id="s", question="run", created_unix_s=0.0, cells=[Cell(label="a", spec=SPEC)])


def some(count: int, **changes: dict[str, Any]) -> list[TrialRecord]:
    """Trials of one cell; ``r2={...}`` changes the record of round 2."""
    return [healthy(spec=SPEC, round=at, id=f"t{at}", seed=at, **changes.get(f"r{at}", {})) for at in range(count)]


def examined(records: list[TrialRecord], environment: Environment | None = None) -> Evidence:
    return gather(STUDY, records, {one.id: summarize(one) for one in records}, environment)[0]


BUSY = {"counters": {"other_cpu_s": 0.2}}
SLOWED = {"counters": {"thermal_throttle_count": 3}}
CHECKED = {"flags": {"anomaly_mode": True}}


def test_healthy_trials_are_all_used_in_order_of_their_round() -> None:
    found = examined(some(4)[::-1])
    assert [one.trial_id for one in found.used] == ["t0", "t1", "t2", "t3"]
    assert found.reasons == []
    assert found.measured


@pytest.mark.parametrize("sick", [{"r1": BUSY}, {"r1": BUSY, "r4": SLOWED}])
def test_disturbed_trials_are_left_out_while_three_and_half_remain(sick: dict[str, Any]) -> None:
    found = examined(some(5, **sick))
    assert len(found.used) == 5 - len(sick)
    assert found.reasons == []
    (left_out,) = found.health
    assert left_out.code == "rounds_left_out"
    assert left_out.params["count"] == len(sick)


@pytest.mark.parametrize(
    ("count", "sick"),
    [(3, {"r0": BUSY}), (5, {"r0": BUSY, "r1": BUSY, "r2": BUSY}), (8, {f"r{at}": BUSY for at in range(5)})],
)
def test_with_too_few_left_all_are_used_and_the_cell_is_unhealthy(count: int, sick: dict[str, Any]) -> None:
    found = examined(some(count, **sick))
    assert len(found.used) == count
    assert found.reasons == ["other_load"]
    assert found.health[0].params["trials"] == len(sick)
    assert found.health[0].params["of_trials"] == count


def test_a_lasting_sickness_of_one_trial_makes_the_whole_cell_unhealthy() -> None:
    found = examined(some(6, r3=CHECKED))
    assert len(found.used) == 6
    assert found.reasons == ["debug_mode"]


def test_a_trial_that_is_also_lastingly_sick_cannot_be_spared() -> None:
    found = examined(some(6, r3={**CHECKED, **BUSY}))
    assert set(found.reasons) == {"debug_mode", "other_load"}


def test_the_worst_severity_of_a_code_is_kept() -> None:
    found = examined(some(4, r0={"flags": {"deterministic_algorithms": True}}, r1=CHECKED))
    (debug,) = [finding for finding in found.health if finding.code == "debug_mode"]
    assert debug.severity is Severity.UNHEALTHY
    assert debug.params["trials"] == 2


def test_warnings_forbid_nothing_and_come_last() -> None:
    found = examined(some(4, r0={"counters": {"major_faults": 5}}, r2=CHECKED))
    assert [finding.code for finding in found.health] == ["debug_mode", "major_faults"]
    assert found.reasons == ["debug_mode"]


def test_only_finished_trials_with_a_summary_count() -> None:
    records = some(4)
    killed = Outcome(status=Status.KILLED, signal="SIGKILL")
    records[1] = msgspec.structs.replace(records[1], outcome=killed)
    found = gather(STUDY, records, {one.id: summarize(one) for one in records[:3]}, None)[0]
    assert [one.trial_id for one in found.used] == ["t0", "t2"]
    assert len(found.records) == 4


def test_a_cell_without_trials_is_not_measured() -> None:
    found = examined([])
    assert not found.measured
    assert found.reasons == ["trial_failed"]
    assert found.health == []


def test_trials_of_other_specs_are_nobodys() -> None:
    stranger = msgspec.structs.replace(SPEC, seed=9)
    records = [*some(2), healthy(spec=stranger, id="x")]
    assert [one.id for one in examined(records).records] == ["t0", "t1"]


class Sticky:
    """A third party's check."""

    name = "sticky_keys"
    passing = False

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        return unhealthy(self.name, keys=3) if record.round == 0 else warning(self.name, keys=1)


def test_a_third_partys_check_joins_in_and_comes_after_the_built_in_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    ours: Registry[Any] = Registry("health check", "pacenote.findings.health", "pacenote.health")
    ours.add(Sticky())
    with pytest.raises(DuplicatePartError):
        ours.add(Sticky())
    monkeypatch.setattr("pacenote.findings.evidence.CHECKS", ours)
    found = examined(some(4, r2=CHECKED))
    assert found.reasons == ["debug_mode", "sticky_keys"]
    assert "sticky_keys" not in CHECKS
