"""The parts of benchmarks/health.py that need no run: the referee's verdict, and sick states set into records."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from types import SimpleNamespace

import fake_trials
import pytest

from pacenote import records, stats
from pacenote.findings import judge

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
WINDOW = {"seconds": 0.5, "other_s": 0.0, "own_s": 0.5, "busy_s": 0.5, "steal_s": 0.0}


@pytest.fixture
def programs(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in [name for name in sys.modules if name.split(".")[0] in ("programs", "health", "harness")]:
        monkeypatch.delitem(sys.modules, name)
    import health
    from programs import grafting, injections, referee

    yield SimpleNamespace(health=health, grafting=grafting, injections=injections, referee=referee)
    for name in [name for name in sys.modules if name.split(".")[0] in ("programs", "health", "harness")]:
        sys.modules.pop(name)


def test_referee_passes_a_calm_run(programs):
    assert programs.referee.verdict([WINDOW] * 10)["undisturbed"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"other_s": 0.1}, "mean_cpus, worst_cpus"),
        ({"busy_s": 0.6}, "unexplained_cpus"),
        ({"steal_s": 0.2}, "steal_share"),
    ],
)
def test_referee_sees_trouble(programs, monkeypatch, change, why):
    monkeypatch.setattr(programs.referee.os, "cpu_count", lambda: 2)
    changed = {**WINDOW, **change}
    if "other_s" in change:
        changed["busy_s"] = 0.6
    assert programs.referee.verdict([changed] * 10)["why"] == why


def test_referee_needs_windows(programs):
    assert not programs.referee.verdict([])["undisturbed"]


def test_referee_knows_whose_a_process_is(programs):
    table = {1: (0, 0.0), 5: (1, 0.0), 6: (5, 0.0), 7: (6, 0.0), 9: (1, 0.0)}
    assert programs.referee.ours(table, {5}) == {5, 6, 7}
    after = {1: (0, 0.5), 5: (1, 1.0), 6: (5, 0.2), 8: (1, 40.0), 10: (5, 0.3)}
    other_s, own_s = programs.referee.used(table, after, {5, 6, 7, 10})
    assert (other_s, own_s) == (pytest.approx(0.5), pytest.approx(1.5))


def test_every_injection_is_one_study_of_two_cells(programs):
    found = programs.injections.everything()
    assert len({(case.kind, case.severity) for case in found}) == len(found) == 8 * 3
    for case in found:
        assert sum(len(values) - 1 for values in case.options["axes"].values()) == 1, case.kind
        assert case.options["rounds"] >= 2  # with one round there is no ratio to refuse


@pytest.mark.parametrize(
    ("text", "seen"), [("1.23 × as fast", 1), ("1.50x", 1), ("b64 t2 3×3 convolution", 0), ("refused: swapping", 0)]
)
def test_a_printed_ratio_is_recognised(programs, text, seen):
    assert programs.health.ratios({"findings": [], "text": text}) == seen


def study_and_records():
    """A healthy study of two cells, three rounds."""
    rng = random.Random(5)
    cells, made = [], []
    for batch, step_s in ((64, 0.004), (128, 0.006)):
        spec = records.TrialSpec(workload="simplenet", framework="pytorch", levers={"batch_size": batch, "threads": 1})
        cells.append(records.Cell(label=f"b{batch}", spec=spec))
        for number in range(3):
            level_s = step_s * rng.gauss(1, 0.01)
            steps_s = [[level_s * rng.gauss(1, 0.02) for _ in range(40)] for _ in range(7)]
            counters = {"steal_s": 0.0, "machine_busy_s": sum(steps_s[1]), "other_cpu_s": 0.0}
            before = {"physical_cores": 2, "affinity_cpus": 2, "logical_cpus": 2}
            changes = {"id": f"{batch}-{number}", "round": number, "samples_per_step": batch, "before": before}
            made.append(fake_trials.trial(steps_s, spec=spec, counters=counters, **changes))
    study = records.Study(
        id="s", question="run", created_unix_s=0.0, finished=True, cells=cells, axes=["batch_size"], baseline="b64"
    )
    return study, made


def codes(study, trials):
    found = judge(study, trials, [stats.summarize(trial) for trial in trials])
    return {finding.code for finding in found}, {
        finding.code for finding in found if finding.severity is records.Severity.UNHEALTHY
    }


def test_without_a_graft_the_ratio_is_printed():
    every, unhealthy = codes(*study_and_records())
    assert "ratio" in every
    assert unhealthy == set()


@pytest.mark.parametrize("severity", ["mild", "moderate", "severe"])
@pytest.mark.parametrize(
    "scene", ["cgroup v2 throttled", "swapping", "thermal throttle", "steal", "accelerator shared"]
)
def test_a_state_from_a_recorded_tree_refuses_the_ratio(programs, scene, severity):
    study, trials = study_and_records()
    sick = study.cells[1].spec.hash()
    grafted = [
        programs.grafting.graft(trial, scene, severity) if trial.spec_hash == sick else trial for trial in trials
    ]
    every, unhealthy = codes(study, grafted)
    assert "ratio" not in every
    assert "ratio_refused" in every
    assert unhealthy == set(programs.grafting.EXPECTED[scene])
