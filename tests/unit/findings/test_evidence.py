"""Which trials count, which are left out, and how findings of several trials become one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from sick_trials import counting, faulting, healthy, two_lengths

from pacenote.findings.evidence import Evidence, gather
from pacenote.findings.health import CHECKS, ComparesProcesses, unhealthy, warning
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


def faulting_alike(*per_step: int, **changes: Any) -> list[TrialRecord]:
    """Three processes whose every step faults so many times."""
    return [
        healthy(spec=SPEC, round=at, id=f"t{at}", seed=at, counters={"minor_faults": 50 * count}, **changes)
        for at, count in enumerate(per_step)
    ]


def severity_of_trimming(records: list[TrialRecord]) -> Severity | None:
    found = [one.severity for one in examined(records).health if one.code == "allocator_trimming"]
    return found[0] if found else None


@pytest.mark.parametrize(
    ("per_step", "severity"),
    [
        ((393, 393, 393), Severity.WARNING),  # Paddle's SimpleNet: always the same
        ((393, 400, 420), Severity.WARNING),  # 27 µs of 5 ms
        ((393, 393, 460), Severity.UNHEALTHY),  # 67 µs of 5 ms
        ((100, 100, 393), Severity.UNHEALTHY),  # one process has what the others have not
        ((200, 240, 200), None),  # too few to be felt, whatever their differences
    ],
)
def test_faults_that_are_the_same_in_every_process_forbid_nothing(
    per_step: tuple[int, ...], severity: Severity | None
) -> None:
    assert severity_of_trimming(faulting_alike(*per_step)) is severity


def test_one_process_with_even_faults_is_only_warned_about() -> None:
    found = examined([msgspec.structs.replace(counting(minor_faults=50 * 393), spec=SPEC, spec_hash=SPEC.hash())])
    assert [(one.code, one.severity) for one in found.health] == [("allocator_trimming", Severity.WARNING)]
    assert found.health[0].params["fault_share"] == pytest.approx(0.0786, rel=0.05)
    assert found.reasons == []


@pytest.mark.parametrize(
    ("record", "uneven"),
    [
        (faulting(400, 430), False),  # 0.6 % of the step
        (faulting(400, 460), True),
        (faulting(600, 0, 600), True),
        (healthy(steps=two_lengths(1.4), counters={"minor_faults": 50 * 600}), True),
        (healthy(steps=two_lengths(1.03), counters={"minor_faults": 50 * 600}), False),
        (healthy(counters={"minor_faults": 50 * 600}), False),  # spikes are no second group
    ],
)
def test_faults_are_uneven_where_turns_differ_or_steps_have_two_lengths(record: TrialRecord, uneven: bool) -> None:
    (found,) = CHECKS.get("allocator_trimming").check(record, summarize(record), None)
    assert (found.severity is Severity.UNHEALTHY) == uneven


def test_memory_that_should_have_been_kept_and_was_not_is_never_a_mere_warning() -> None:
    record = counting(minor_faults=50 * 150)
    assert CHECKS.get("allocator_trimming").check(record, summarize(record), None) == []
    kept = healthy(levers={"allocator": "no_trim"}, counters={"minor_faults": 50 * 150})
    (found,) = CHECKS.get("allocator_trimming").check(kept, summarize(kept), None)
    assert found.severity is Severity.UNHEALTHY


def test_processes_are_compared_only_by_what_is_known() -> None:
    check = CHECKS.get("allocator_trimming")
    assert isinstance(check, ComparesProcesses)
    assert not check.differs([])
    unknown = [TrialSummary(trial_id="a", round=0), TrialSummary(trial_id="b", round=1, minor_faults_per_step=900.0)]
    assert not check.differs(unknown)
    timed = [msgspec.structs.replace(one, step_time_mean_s=5e-3) for one in unknown]
    assert not check.differs(timed)
    assert check.differs([*timed, msgspec.structs.replace(timed[1], minor_faults_per_step=800.0)])


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
