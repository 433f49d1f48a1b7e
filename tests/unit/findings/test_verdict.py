"""The verdict answers the question, and never ranks what cannot be told apart or compared."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from sick_trials import healthy

from pacenote.findings import judge
from pacenote.records import Cell, Finding, Study, TrialRecord, TrialSpec
from pacenote.stats import TrialSummary, summarize


def build(levels_s: list[float], *, sick: tuple[int, ...] = (), spread: float = 0.004, **options: Any) -> list[Finding]:
    """Findings of a study whose cells c0, c1 … have these step times; cells in ``sick`` ran in anomaly mode."""
    cells, records, summaries = [], [], []
    for at, level_s in enumerate(levels_s):
        spec = TrialSpec(workload="lenet", framework="pytorch", levers={"variant": at, "threads": 4})
        cells.append(Cell(label=f"c{at}", spec=spec))
        for number in range(4):
            made = record(spec, number, sick=at in sick)
            records.append(made)
            summaries.append(at_level(made, level_s * (1.0 + spread * ((number + at) % 3 - 1))))
    study = Study(
        id="s", question="run", created_unix_s=0.0, cells=cells, axes=["variant"], baseline="c0", options=options
    )
    return judge(study, records, summaries)


def record(spec: TrialSpec, number: int, *, sick: bool) -> TrialRecord:
    return healthy(spec=spec, round=number, id=f"{spec.hash()}-{number}", flags={"anomaly_mode": sick})


def at_level(made: TrialRecord, step_s: float) -> TrialSummary:
    """The summary of a trial with its step time put in place."""
    return msgspec.structs.replace(
        summarize(made),
        step_time_s=step_s,
        step_time_median_s=step_s,
        step_time_block_s=step_s,
        time_per_sample_s=step_s / 32,
        turn_median_s={turn: step_s for turn in range(1, 7)},
        turn_quartile_s={turn: step_s for turn in range(1, 7)},
        level_error_share=0.001,
    )


def verdict(found: list[Finding]) -> Finding:
    return next(finding for finding in found if finding.code.startswith("verdict_"))


def test_the_fastest_is_named_with_its_lead_over_the_baseline() -> None:
    found = build([6e-3, 5e-3, 4e-3])
    answer = verdict(found)
    assert answer.code == "verdict_fastest"
    assert (answer.params["cell"], answer.params["baseline"]) == ("c2", "c0")
    assert answer.params["speedup"] == pytest.approx(1.5, rel=0.01)
    assert answer.params["low"] < 1.5 < answer.params["high"]
    (fastest,) = [finding for finding in found if finding.code == "fastest"]
    assert fastest.params == {"cell": "c2", "samples_per_s": answer.params["samples_per_s"]}


def test_a_baseline_that_wins_is_compared_with_the_runner_up() -> None:
    answer = verdict(build([4e-3, 6e-3, 5e-3]))
    assert (answer.params["cell"], answer.params["baseline"]) == ("c0", "c2")


def test_the_verdict_comes_first_then_why() -> None:
    found = build([6e-3, 5e-3])
    assert [finding.code for finding in found[:2]] == ["verdict_fastest", "verdict_why"]


def test_the_more_there_were_to_choose_from_the_higher_the_bar() -> None:
    two, six = verdict(build([6e-3, 5e-3])), verdict(build([6e-3, 5.9e-3, 5.8e-3, 5.7e-3, 5.6e-3, 5e-3]))
    assert two.params["level"] == pytest.approx(0.95)
    assert six.params["level"] == pytest.approx(0.99)
    assert six.params["high"] - six.params["low"] > two.params["high"] - two.params["low"]


def test_variants_that_cannot_be_told_apart_have_no_winner() -> None:
    found = build([5e-3, 5.01e-3, 4.99e-3], spread=0.02)
    assert verdict(found).code == "verdict_no_difference"
    assert verdict(found).params == {"count": 3}
    assert "fastest" not in {finding.code for finding in found}


def test_an_unhealthy_winner_does_not_win() -> None:
    answer = verdict(build([6e-3, 5e-3, 1e-3], sick=(2,)))
    assert (answer.code, answer.params["cell"]) == ("verdict_fastest", "c1")


def test_an_unhealthy_baseline_leaves_the_others_to_be_compared() -> None:
    found = build([6e-3, 5e-3, 4e-3], sick=(0,))
    assert {finding.code for finding in found if finding.code.startswith("ratio")} == {"ratio_refused"}
    assert verdict(found).code == "verdict_refused"
    assert verdict(found).params["reasons"] == ["debug_mode"]


def test_one_healthy_cell_among_sick_ones_is_no_comparison() -> None:
    found = build([6e-3, 5e-3, 4e-3], sick=(1, 2))
    assert verdict(found).code == "verdict_refused"
    codes = [finding.code for finding in found]
    assert codes.index("verdict_do") < codes.index("verdict_why")  # what to do matters more than why


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_the_level_can_be_chosen(level: float) -> None:
    ratio = next(finding for finding in build([6e-3, 5e-3], level=level) if finding.code == "ratio")
    assert ratio.params["level"] == level
    standard = next(finding for finding in build([6e-3, 5e-3]) if finding.code == "ratio")
    wider = ratio.params["high"] - ratio.params["low"] > standard.params["high"] - standard.params["low"]
    assert wider == (level > 0.95)
