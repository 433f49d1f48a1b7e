"""Health thresholds from both sides: what a healthy machine does must pass, however close it looks."""

from __future__ import annotations

from typing import Any

import pytest
from sick_trials import counting, healthy, hot, observed_threads, on_device, ramp, swapped

from pacenote.findings.evidence import examine
from pacenote.records import Environment, Severity, TrialRecord, TrialSpec
from pacenote.stats import summarize


def codes(record: TrialRecord, environment: Environment | None = None) -> set[str]:
    found = examine(record, summarize(record), environment)
    return {finding.code for finding in found if finding.severity is Severity.UNHEALTHY}


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(healthy(threads=1, counters={"child_cpu_s": 0.248}), id="one thread"),
        pytest.param(healthy(threads=1, before={"quota_cpus": 0.5}), id="one thread under a small quota"),
        pytest.param(healthy(threads=2, before={"quota_cpus": 2.0}), id="threads equal to the quota"),
        pytest.param(healthy(threads=1, counters={"other_cpu_s": 0.5}), id="others on idle cores"),
        pytest.param(counting(other_cpu_s=0.03), id="services and the rounding of ticks"),
        pytest.param(counting(throttled_s=0.001, throttled_count=0), id="throttled for a blink"),
        pytest.param(counting(steal_s=0.002), id="hardly any steal"),
        pytest.param(counting(swapped_in_bytes=4096.0), id="one page of somebody else's"),
        pytest.param(swapped(0.001), id="start-up pages in swap"),
        pytest.param(counting(major_faults=1, minor_faults=50 * 224), id="glibc at batch 32 as it comes"),
        pytest.param(healthy(steps=ramp(1.1)), id="a processor leaving its turbo"),
        pytest.param(healthy(steps=[[0.4]] * 8), id="steps longer than a turn"),
        pytest.param(on_device(other_process_count=0, slowed_by=["power_cap"]), id="an accelerator at its power cap"),
        pytest.param(on_device(other_process_count=None, slowed_by=None), id="an accelerator that does not tell"),
    ],
)
def test_healthy_machines_pass(record: TrialRecord) -> None:
    assert codes(record) == set()


def test_a_low_clock_alone_is_not_heat() -> None:
    assert codes(hot(3.6e9)) == set()
    cool = healthy(before={"cpu_temperature_c": 50.0, "cpu_clock_hz": 1.2e9})
    assert codes(cool) == set()


def test_threads_are_counted_as_observed_not_as_asked() -> None:
    assert codes(observed_threads(2)) == set()
    assert codes(observed_threads(16)) == {"threads_over_cores"}


def test_the_environment_stands_in_for_a_missing_snapshot() -> None:
    record = healthy(threads=4, before={"affinity_cpus": None, "logical_cpus": None, "physical_cores": None})
    assert codes(record) == set()
    assert codes(record, Environment(facts={"affinity_cpus": 2, "physical_cores": 2})) == {"threads_over_cores"}


def test_loader_workers_may_leave_the_main_thread_waiting() -> None:
    spec = TrialSpec(workload="lenet", framework="pytorch", levers={"threads": 1, "loader_workers": 2})
    waiting: dict[str, Any] = {"child_cpu_s": 0.235}  # a tenth of each fake step is spent waiting for data
    assert codes(healthy(spec=spec, counters=waiting)) == set()
    assert codes(healthy(spec=spec, counters={"child_cpu_s": 0.19, "other_cpu_s": 0.01})) == {"cpu_starved"}


def test_threads_that_sleep_while_waiting_for_each_other_starve_nobody() -> None:
    own = {"child_cpu_s": 0.228, "other_cpu_s": 0.0, "steal_s": 0.0}  # Paddle's LeNet with two threads, as measured
    assert codes(healthy(counters=own)) == set()
    assert codes(healthy(counters={**own, "other_cpu_s": 0.02})) == {"cpu_starved"}
    assert codes(healthy(counters={**own, "other_cpu_s": None})) == {"cpu_starved"}  # nobody can say who took it
    assert "cpu_starved" in codes(healthy(counters={**own, "steal_s": 0.02}))


def test_a_loader_alone_may_wait_for_its_files() -> None:
    spec = TrialSpec(workload="lenet", framework="pytorch", data_mode="loader")
    assert "cpu_starved" not in codes(healthy(spec=spec, counters={"child_cpu_s": 0.05}))


def test_an_accelerator_leaves_the_cpu_idle() -> None:
    spec = TrialSpec(workload="lenet", framework="pytorch", device="cuda:0")
    assert codes(healthy(spec=spec, counters={"child_cpu_s": 0.05})) == set()


def test_only_the_trials_own_accelerator_counts() -> None:
    busy, idle = {"other_process_count": 3}, {"other_process_count": 0}
    spec = TrialSpec(workload="lenet", framework="pytorch", device="cuda:1")
    assert codes(healthy(spec=spec, before={"accelerators": [busy, idle]})) == set()
    assert codes(healthy(spec=spec, before={"accelerators": [idle, busy]})) == {"accelerator_shared"}


def test_debugging_variables_count_like_switches() -> None:
    for variables in ({"PYTHONDEVMODE": "1"}, {"MALLOC_PERTURB_": "7"}, {"PYTHONMALLOC": "malloc_debug"}):
        assert codes(healthy(), Environment(facts={"variables": variables})) == {"debug_mode"}
    harmless = {"PYTHONDEVMODE": "0", "PYTHONMALLOC": "malloc", "OMP_NUM_THREADS": "2"}
    assert codes(healthy(), Environment(facts={"variables": harmless})) == set()


def test_a_sickness_of_the_warm_up_alone_does_not_count() -> None:
    record = healthy()
    assert record.turns[0].turn == 0
    sick = [counting(other_cpu_s=0.2).turns[0], *record.turns[1:]]
    assert codes(healthy(turns=sick)) == set()
