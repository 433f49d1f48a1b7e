"""The cells of a self-test, how many rounds fit, and what reaches the main job."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pacenote import plan
from pacenote.errors import UsageError
from pacenote.experiments import selftest, sweep
from pacenote.plan import RunOptions
from pacenote.records import Cell, Effort, Study, TrialSpec
from pacenote.store import Store

SPEC = TrialSpec(workload="lenet", framework="pytorch", seed=3, levers={"batch_size": 32})


def prepared(*specs: TrialSpec) -> sweep.Prepared:
    cells = [Cell(label=f"c{at}", spec=spec) for at, spec in enumerate(specs)]
    return sweep.Prepared(cells=cells, axes=[], estimate=plan.expect(cells, Effort(), 1))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.mark.parametrize(
    ("planted", "controls", "labels"),
    [
        ((1.03, 1.1), 1, ["A", "A2", "A×1.03", "A×1.10"]),
        ((), 3, ["A", "A2", "A3", "A4"]),
        ((2.0,), 0, ["A", "A×2.00"]),
        ((), 0, ["A"]),
    ],
)
def test_cells_are_controls_and_planted_slow_downs(
    planted: tuple[float, ...], controls: int, labels: list[str]
) -> None:
    cells = selftest.cells_of(RunOptions(workload="lenet", seed=3), prepared(SPEC), planted, controls)
    assert [cell.label for cell in cells] == labels
    assert len({cell.spec.hash() for cell in cells}) == len(cells)
    assert [cell.spec.seed for cell in cells[: controls + 1]] == list(range(3, 4 + controls))
    assert [cell.spec.planted_slowdown_ratio for cell in cells[controls + 1 :]] == list(planted)
    assert {cell.spec.levers["batch_size"] for cell in cells} == {32}


@pytest.mark.parametrize("count", [0, 2])
def test_anything_but_one_condition_is_refused(count: int) -> None:
    with pytest.raises(UsageError, match="one condition"):
        selftest.cells_of(RunOptions(workload="lenet"), prepared(*[SPEC] * count))


@pytest.mark.parametrize(
    ("budget_s", "rounds"),
    [(None, 7), (0.001, selftest.MIN_ROUNDS), (1e6, None)],
)
def test_as_many_rounds_as_fit_but_never_too_few(budget_s: float | None, rounds: int | None) -> None:
    cells = selftest.cells_of(RunOptions(workload="lenet"), prepared(SPEC))
    options = RunOptions(workload="lenet", rounds=7, time_budget_s=budget_s)
    fitting = selftest._fitting(cells, options)
    if rounds is None:
        cost_s = plan.expect(cells, options.effort, fitting).total_s
        assert cost_s <= 1e6 < cost_s + plan.expect(cells, options.effort, 1).round_s
    else:
        assert fitting == rounds


def asked(store: Store, monkeypatch: pytest.MonkeyPatch, **arguments: Any) -> tuple[RunOptions, sweep.Prepared, bool]:
    """What a self-test hands to the main job, without running it."""
    seen: list[tuple[RunOptions, sweep.Prepared, bool]] = []

    def run_cells(options: RunOptions, ready: sweep.Prepared, work: object, *, calibrate: bool = True) -> Study:
        seen.append((options, ready, calibrate))
        return Study(id="s", question=options.question, created_unix_s=0.0)

    monkeypatch.setattr(sweep, "run_cells", run_cells)
    assert selftest.run(store, framework="simulated", **arguments).question == "selftest"
    return seen[0]


def test_a_self_test_is_a_study_of_its_own_kind_on_the_cpu(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    options, ready, calibrate = asked(store, monkeypatch, resume=False, time_budget_s=60.0)
    assert (options.question, options.devices, options.resume, options.time_budget_s) == (
        "selftest",
        ["cpu"],
        False,
        60.0,
    )
    assert not calibrate  # no finding of a self-test needs the ceilings
    assert ready.axes == ["planted_slowdown_ratio"]
    assert ready.estimate.trials == options.rounds * len(ready.cells)
    assert options.rounds >= selftest.MIN_ROUNDS


def test_rounds_and_effort_can_be_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    effort = Effort(turn_s=0.01)
    options, ready, _ = asked(store, monkeypatch, rounds=2, effort=effort, controls=2, planted=(1.2,))
    assert (options.rounds, options.effort) == (2, effort)
    assert [cell.label for cell in ready.cells] == ["A", "A2", "A3", "A×1.20"]
