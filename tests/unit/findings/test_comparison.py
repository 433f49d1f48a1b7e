"""Which cells are compared, and whether a ratio, a forced ratio or a refusal comes of it."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sick_trials import healthy

from pacenote.findings.comparison import compare, compare_pair, pairs, value_of
from pacenote.findings.evidence import Evidence
from pacenote.records import Cell, Finding, LeverOutcome, Outcome, Severity, Status, Study, TrialRecord, TrialSpec
from pacenote.stats import TrialSummary

UNHEALTHY = [Finding(code="other_load", severity=Severity.UNHEALTHY)]
STARVED = [Finding(code="cpu_starved", severity=Severity.UNHEALTHY), *UNHEALTHY]
WARNED = [Finding(code="major_faults", severity=Severity.WARNING)]
RECORD = healthy()


def spec(framework: str = "pytorch", device: str = "cpu", **levers: Any) -> TrialSpec:
    return TrialSpec(workload="lenet", framework=framework, device=device, levers=levers)


def process(step_s: float, number: int) -> TrialSummary:
    return TrialSummary(
        trial_id=f"t{number}",
        round=number,
        step_time_s=step_s,
        step_time_median_s=step_s,
        step_time_block_s=step_s,
        samples_per_step=32,
        time_per_sample_s=step_s / 32,
    )


def evidence(
    label: str,
    *steps_s: float,
    asked: TrialSpec | None = None,
    health: list[Finding] | None = None,
    records: list[TrialRecord] | None = None,
) -> Evidence:
    used = [process(step_s, number) for number, step_s in enumerate(steps_s)]
    return Evidence(Cell(label=label, spec=asked or spec()), records or [], used, health or [])


def study(*cells: Cell, axes: tuple[str, ...] = (), **changes: Any) -> Study:
    return Study(
        id="s",
        question=changes.pop("question", "run"),
        created_unix_s=0.0,
        cells=list(cells),
        axes=list(axes),
        **changes,
    )


PLAIN, FORCED = study(), study(options={"force": True})


def with_lever(name: str, applied: bool | None, status: Status = Status.FINISHED) -> list[TrialRecord]:
    lever = LeverOutcome(name=name, asked="bf16", observed="fp32", applied=applied)
    return [msgspec.structs.replace(RECORD, levers=[lever], outcome=Outcome(status=status))]


def crossed(**axes: list[Any]) -> list[Cell]:
    """Every combination of the values, the last axis changing fastest."""
    found = []
    for values in itertools.product(*axes.values()):
        named = dict(zip(axes, values, strict=True))
        label = "/".join(str(value) for value in values)
        found.append(
            Cell(label=label, spec=spec(named.pop("framework", "pytorch"), named.pop("device", "cpu"), **named))
        )
    return found


def test_three_axes_are_each_compared_with_the_other_two_fixed() -> None:
    cells = crossed(framework=["pytorch", "paddle"], batch_size=[1, 2], threads=[1, 2, 3])
    found = pairs(cells, ["framework", "batch_size", "threads"])
    assert [axis for axis, _, _ in found] == ["framework"] * 6 + ["batch_size"] * 6 + ["threads"] * 8
    assert ("framework", "pytorch/2/3", "paddle/2/3") in found
    assert ("batch_size", "paddle/1/2", "paddle/2/2") in found
    assert ("threads", "paddle/1/1", "paddle/1/3") in found


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_each_comparison_changes_one_axis_and_starts_from_its_first_value(sizes: list[int]) -> None:
    axes = {f"lever{at}": list(range(size)) for at, size in enumerate(sizes)}
    cells = crossed(**axes)
    by_label = {cell.label: cell for cell in cells}
    found = pairs(cells, list(axes))
    for axis, base, other in found:
        mine, theirs = by_label[base], by_label[other]
        assert [name for name in axes if value_of(mine, name) != value_of(theirs, name)] == [axis]
        assert value_of(mine, axis) == 0
    expected = sum(len(cells) // size * (size - 1) for size in sizes)
    assert len(found) == len(set(found)) == expected


def test_a_missing_first_value_leaves_the_next_as_the_one_compared_with() -> None:
    cells = crossed(framework=["pytorch", "paddle"], batch_size=[1, 2, 3])[1:]
    assert pairs(cells, ["framework", "batch_size"]) == [
        ("framework", "pytorch/2", "paddle/2"),
        ("framework", "pytorch/3", "paddle/3"),
        ("batch_size", "pytorch/2", "pytorch/3"),
        ("batch_size", "paddle/1", "paddle/2"),
        ("batch_size", "paddle/1", "paddle/3"),
    ]


@pytest.mark.parametrize("axes", [[], ["batch_size"]])
def test_one_cell_is_compared_with_nothing(axes: list[str]) -> None:
    assert pairs(crossed(batch_size=[1]), axes) == []


@pytest.mark.parametrize(
    ("axis", "value"),
    [("framework", "paddle"), ("device", "cuda:0"), ("seed", 0), ("batch_size", 32), ("levers", None), ("width", None)],
)
def test_an_axis_is_a_field_of_the_spec_or_a_lever(axis: str, value: Any) -> None:
    assert value_of(Cell(label="", spec=spec("paddle", "cuda:0", batch_size=32)), axis) == value


def test_a_study_is_compared_pair_by_pair() -> None:
    cells = crossed(batch_size=[1, 2, 3])
    sides = [evidence(cell.label, 1.0 / (at + 1), 1.0 / (at + 1), asked=cell.spec) for at, cell in enumerate(cells)]
    found = compare(study(*cells, axes=("batch_size",)), sides, 0.95)
    assert [(one.subject, round(one.params["speedup"])) for one in found] == [("2/1", 2), ("3/1", 3)]
    assert {one.params["axis"] for one in found} == {"batch_size"}


@pytest.mark.parametrize(
    ("base", "other", "side", "reasons"),
    [
        (UNHEALTHY, [], "baseline", ["other_load"]),
        ([], STARVED, "cell", ["cpu_starved", "other_load"]),
        (UNHEALTHY, STARVED, "both", ["other_load", "cpu_starved"]),
        (WARNED, UNHEALTHY, "cell", ["other_load"]),
    ],
)
def test_an_unhealthy_side_is_refused_with_its_reasons(
    base: list[Finding], other: list[Finding], side: str, reasons: list[str]
) -> None:
    sides = evidence("a", 1.0, 1.1, health=base), evidence("b", 2.0, 2.1, health=other)
    found = compare_pair(PLAIN, *sides, 0.95, axis="x")
    assert (found.code, found.severity, found.subject) == ("ratio_refused", Severity.WARNING, "b/a")
    assert found.params == {"baseline": "a", "cell": "b", "axis": "x", "side": side, "reasons": reasons}
    forced = compare_pair(FORCED, *sides, 0.95)
    assert (forced.code, forced.severity, forced.params["reasons"]) == ("ratio_forced", Severity.WARNING, reasons)
    healthy_one = compare_pair(PLAIN, evidence("a", 1.0, 1.1), evidence("b", 2.0, 2.1), 0.95)
    assert {**forced.params, "reasons": None} == {**healthy_one.params, "reasons": None}


def test_warnings_refuse_nothing_and_force_changes_no_healthy_ratio() -> None:
    sides = evidence("a", 1.0, 1.1, health=WARNED), evidence("b", 2.0, 2.1, health=WARNED)
    plain, forced = compare_pair(PLAIN, *sides, 0.95), compare_pair(FORCED, *sides, 0.95)
    assert plain == forced
    assert (plain.code, plain.severity) == ("ratio", Severity.INFO)


@pytest.mark.parametrize("empty", ["a", "b"])
def test_force_cannot_make_a_number_out_of_nothing(empty: str) -> None:
    sides = [evidence(label) if label == empty else evidence(label, 1.0, 1.1) for label in ("a", "b")]
    found = compare_pair(FORCED, *sides, 0.95)
    assert (found.code, found.params["reasons"]) == ("ratio_refused", ["trial_failed"])
    assert found.params["side"] == ("baseline" if empty == "a" else "cell")


@pytest.mark.parametrize(
    ("axis", "applied", "status", "code"),
    [
        ("dtype", False, Status.FINISHED, "ratio_refused"),
        ("dtype", None, Status.FINISHED, "ratio"),  # could not be observed
        ("dtype", True, Status.FINISHED, "ratio"),
        ("threads", False, Status.FINISHED, "ratio"),  # equal on both sides, so the ratio stands
        ("dtype", False, Status.CRASHED, "ratio"),  # that trial gave no number
    ],
)
def test_a_lever_that_did_nothing_spoils_the_comparison_along_it(
    axis: str, applied: bool | None, status: Status, code: str
) -> None:
    other = evidence("b", 2.0, 2.1, records=with_lever("dtype", applied, status))
    assert compare_pair(PLAIN, evidence("a", 1.0, 1.1), other, 0.95, axis=axis).code == code


def test_health_and_an_idle_lever_are_both_named() -> None:
    sick = evidence("b", 2.0, 2.1, health=UNHEALTHY, records=with_lever("dtype", False))
    found = compare_pair(PLAIN, evidence("a", 1.0, 1.1), sick, 0.95, axis="dtype")
    assert found.params["reasons"] == ["other_load", "lever_not_applied"]


@pytest.mark.parametrize(
    ("question", "options", "paired"),
    [
        ("run", {}, True),
        ("selftest", {}, True),
        ("compare", {}, False),
        ("compare", {"paired": True}, True),
        ("run", {"paired": False}, False),
    ],
)
def test_rounds_are_paired_when_they_ran_interleaved(question: str, options: dict[str, Any], paired: bool) -> None:
    asked = study(question=question, options=options)
    found = compare_pair(asked, evidence("a", 1.0, 1.1), evidence("b", 2.0, 2.1), 0.95)
    assert found.params["paired"] == paired


@pytest.mark.parametrize(("gap", "distinct"), [(1.0, False), (1.02, False), (1.5, True)])
def test_a_ratio_says_whether_the_difference_is_there(gap: float, distinct: bool) -> None:
    base, other = evidence("a", 1.0, 1.02, 0.98), evidence("b", gap * 1.01, gap * 0.99, gap)
    assert compare_pair(PLAIN, base, other, 0.95).params["distinct"] == distinct
