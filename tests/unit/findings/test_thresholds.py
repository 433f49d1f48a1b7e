"""Each health check just below and just above its threshold, with everything else quiet."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from fake_trials import trial
from sick_trials import counting, healthy, hot, on_device

from pacenote.findings.health import CHECKS
from pacenote.records import Environment, Finding, Memory, Reading, Severity, TrialRecord
from pacenote.stats import TrialSummary, summarize

WALL_S = 0.25  # a turn of the healthy trial; six are measured


def asked(code: str, record: TrialRecord, environment: Environment | None = None, **summary: Any) -> Finding | None:
    """What one check says; fields of the summary can be replaced."""
    made = msgspec.structs.replace(summarize(record), **summary)
    found = CHECKS.get(code).check(record, made, environment)
    return found[0] if found else None


def severity(code: str, record: TrialRecord, environment: Environment | None = None, **summary: Any) -> str:
    found = asked(code, record, environment, **summary)
    return "" if found is None else found.severity.value


@pytest.mark.parametrize(
    ("code", "counter", "below", "above"),
    [
        ("cgroup_throttled", "throttled_s", 0.0099 * WALL_S, 0.0101 * WALL_S),
        ("other_load", "other_cpu_s", 0.149 * WALL_S, 0.151 * WALL_S),
        ("steal", "steal_s", 0.02 * 0.26, 0.021 * 0.26),
        ("swapping", "swapped_in_bytes", 174_762, 174_763),
        ("swapping", "swapped_out_bytes", 174_762, 174_763),
        ("thermal_throttle", "thermal_throttle_count", 0, 1),
        ("cpu_starved", "child_cpu_s", 1.0 * WALL_S, 0.925 * WALL_S),
    ],
)
def test_a_counter_of_every_turn(code: str, counter: str, below: float, above: float) -> None:
    assert severity(code, counting(**{counter: below})) == ""
    assert severity(code, counting(**{counter: above})) == "unhealthy"


@pytest.mark.parametrize(("each", "expected"), [(0, ""), (1, ""), (2, "warning"), (50, "warning")])
def test_ten_major_faults_are_a_warning(each: int, expected: str) -> None:
    """Six measured turns: six faults are a handful, twelve are not."""
    assert severity("major_faults", counting(major_faults=each)) == expected


@pytest.mark.parametrize(
    ("threads", "affinity", "physical", "expected"),
    [(4, 4, 4, ""), (5, 8, 4, "warning"), (8, 8, 4, "warning"), (9, 8, 4, "unhealthy"), (2, 1, 4, "unhealthy")],
)
def test_threads_and_cores(threads: int, affinity: int, physical: int, expected: str) -> None:
    record = healthy(threads=threads, before={"affinity_cpus": affinity, "physical_cores": physical})
    assert severity("threads_over_cores", record) == expected


@pytest.mark.parametrize(
    ("threads", "quota", "expected"),
    [(1, 0.5, ""), (2, None, ""), (2, 2.0, ""), (2, 1.99, "unhealthy"), (4, 3.5, "unhealthy")],
)
def test_threads_and_quota(threads: int, quota: float | None, expected: str) -> None:
    assert severity("threads_over_quota", healthy(threads=threads, before={"quota_cpus": quota})) == expected


@pytest.mark.parametrize(("count", "expected"), [(0, ""), (1, "unhealthy")])
def test_stops_without_a_time_are_counted_in_periods(count: int, expected: str) -> None:
    """Six stops of 1.5 s are more than 5 % of the 15 periods."""
    assert severity("cgroup_throttled", counting(throttled_s=None, throttled_count=count)) == expected


@pytest.mark.parametrize(
    ("threads", "other", "expected"),
    [
        (4, 0.16, "unhealthy"),
        (3, 0.16, ""),
        (3, 0.89, ""),
        (3, 0.91, "unhealthy"),
        (1, 2.39, ""),
        (1, 2.41, "unhealthy"),
    ],
)
def test_others_may_use_three_quarters_of_the_cores_left_over(threads: int, other: float, expected: str) -> None:
    record = healthy(threads=threads, counters={"other_cpu_s": other * WALL_S})
    assert severity("other_load", record) == expected


@pytest.mark.parametrize(("workers", "expected"), [(0, ""), (1, "unhealthy")])
def test_loader_workers_use_cores_too(workers: int, expected: str) -> None:
    record = healthy(threads=3, levers={"loader_workers": workers}, counters={"other_cpu_s": 0.5 * WALL_S})
    assert severity("other_load", record) == expected


@pytest.mark.parametrize(
    ("held", "resident", "expected"),
    [(2**20 - 1, 1e6, ""), (2**20, 1e6, "unhealthy"), (2**20, 1.2e8, ""), (4e6, 1e8, "unhealthy"), (None, 1e8, "")],
)
def test_memory_in_swap_counts_by_size_and_share(held: float | None, resident: float, expected: str) -> None:
    memory = Memory(pss_bytes=Reading(value=resident), swap_bytes=Reading(value=held))
    assert severity("swapping", healthy(memory=memory)) == expected


@pytest.mark.parametrize(("clock_hz", "expected"), [(3.21e9, ""), (3.19e9, "unhealthy")])
def test_a_low_clock_counts_when_it_is_hot(clock_hz: float, expected: str) -> None:
    """The highest clock is 4 GHz; it is 99 degrees of 100."""
    assert severity("thermal_throttle", hot(clock_hz)) == expected


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("power_cap", ""),
        ("hardware_slowdown", "unhealthy"),
        ("software_thermal", "unhealthy"),
        ("power_brake", "unhealthy"),
    ],
)
def test_an_accelerator_says_why_it_is_slow(reason: str, expected: str) -> None:
    assert severity("thermal_throttle", on_device(slowed_by=[reason])) == expected


def test_the_clock_of_an_accelerator_is_a_share_of_its_highest() -> None:
    slow = on_device(slowed_by=["hardware_thermal"], clock_hz=9e8, clock_max_hz=1.8e9, temperature_c=90.0)
    assert asked("thermal_throttle", slow).params == {"temperature_c": 90.0, "clock_share": 0.5}
    unknown = on_device(slowed_by=["hardware_thermal"])
    assert asked("thermal_throttle", unknown).params == {"temperature_c": None, "clock_share": None}


@pytest.mark.parametrize(("steps", "steady", "expected"), [(19, True, "warning"), (20, True, ""), (3, False, "")])
def test_twenty_steps_are_enough(steps: int, steady: bool, expected: str) -> None:
    assert severity("few_steps", healthy(), steps=steps, steady=steady) == expected


@pytest.mark.parametrize(
    ("drift", "error", "expected"),
    [
        (0.20, 0.0, ""),
        (0.21, 0.0, "unhealthy"),
        (-0.21, 0.01, "unhealthy"),
        (0.21, 0.06, ""),
        (0.25, 0.0624, "unhealthy"),
        (None, None, ""),
    ],
)
def test_drift_counts_when_it_is_large_and_no_chance(drift: float | None, error: float | None, expected: str) -> None:
    assert severity("unsteady", healthy(), drift_share=drift, drift_error_share=error) == expected


@pytest.mark.parametrize(
    ("steady", "reason", "expected"),
    [(True, "", ""), (False, "still_moving", ""), (False, "few_steps", "unhealthy"), (False, "no_steps", "unhealthy")],
)
def test_without_a_steady_state_only_the_start_was_measured(steady: bool, reason: str, expected: str) -> None:
    assert severity("cold_only", healthy(), steady=steady, reason=reason) == expected
    assert severity("unsteady", healthy(), reason=reason) == ("unhealthy" if reason == "still_moving" else "")


@pytest.mark.parametrize(
    ("variables", "flags"),
    [
        ({"CUDA_LAUNCH_BLOCKING": "1"}, ["cuda_launch_blocking"]),
        ({"CUDA_LAUNCH_BLOCKING": "0"}, None),
        ({"MALLOC_CHECK_": "3", "PYTHONDEVMODE": ""}, ["malloc_check"]),
        ({"PYTHONMALLOC": "malloc_debug"}, ["pythonmalloc"]),
        ({"PYTHONMALLOC": "malloc"}, None),
        ({"OMP_NUM_THREADS": "2"}, None),
    ],
)
def test_debugging_variables(variables: dict[str, str], flags: list[str] | None) -> None:
    found = asked("debug_mode", healthy(), Environment(facts={"variables": variables}))
    assert (found and found.params["flags"]) == flags


def test_a_choice_beside_a_debugging_aid_is_not_named() -> None:
    found = asked("debug_mode", healthy(flags={"deterministic_algorithms": True, "profiler": True}))
    assert found.severity is Severity.UNHEALTHY
    assert found.params["flags"] == ["profiler"]


@pytest.mark.parametrize(("faults", "expected"), [(49, ""), (51, "warning")])
def test_faults_are_told_from_five_per_cent_of_a_step(faults: float, expected: str) -> None:
    record = trial([[1e-3] * 60] * 3)
    assert severity("allocator_trimming", record, minor_faults_per_step=faults, bimodality=None) == expected


@pytest.mark.parametrize(("faults", "expected"), [(19, ""), (21, "unhealthy")])
def test_faults_are_told_from_two_per_cent_where_memory_should_be_kept(faults: float, expected: str) -> None:
    record = trial([[1e-3] * 60] * 3, levers={"allocator": "no_trim"})
    assert severity("allocator_trimming", record, minor_faults_per_step=faults) == expected


@pytest.mark.parametrize("levers", [{"loader_workers": 1}, {"loader_workers": 4}])
def test_faults_of_loader_workers_are_their_work(levers: dict[str, int]) -> None:
    assert severity("allocator_trimming", healthy(levers=levers, counters={"minor_faults": 50_000})) == ""


@pytest.mark.parametrize(("wait_share", "expected"), [(0.0, "unhealthy"), (0.4, "unhealthy"), (0.6, "")])
def test_waiting_for_workers_excuses_an_idle_main_thread(wait_share: float, expected: str) -> None:
    record = healthy(levers={"loader_workers": 2}, counters={"other_cpu_s": 0.14 * WALL_S})
    made: TrialSummary = summarize(record)
    waited = {"data_wait": wait_share * made.step_time_mean_s}
    assert severity("cpu_starved", record, cpu_share=0.45, phase_s=waited) == expected
    alone = healthy(counters={"other_cpu_s": 0.14 * WALL_S})
    assert severity("cpu_starved", alone, cpu_share=0.45, phase_s=waited) == "unhealthy"


@pytest.mark.parametrize(("device", "index", "count"), [("cuda:0", 0, 1), ("cuda:1", 1, 3), ("cuda", 0, 1)])
def test_the_trials_own_accelerator_is_looked_at(device: str, index: int, count: int) -> None:
    record = on_device()
    state = [{"other_process_count": 1}, {"other_process_count": 3}]
    spec = msgspec.structs.replace(record.spec, device=device)
    record = msgspec.structs.replace(record, spec=spec, before={"accelerators": state})
    assert asked("accelerator_shared", record).params == {"process_count": count}
    assert state[index]["other_process_count"] == count


def test_an_accelerator_that_is_not_listed_is_unknown() -> None:
    record = on_device(other_process_count=5)
    spec = msgspec.structs.replace(record.spec, device="cuda:7")
    assert asked("accelerator_shared", msgspec.structs.replace(record, spec=spec)) is None
