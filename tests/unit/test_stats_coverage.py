"""Intervals keep their promise: over seeded simulations of studies they hold the truth in at least 93 %."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pacenote.stats import TrialSummary, cell_interval, ratio_interval
from pacenote.stats.trimmed import trimmed

STUDIES = 500
TURNS = range(1, 7)
SPEED_UP = 1.25
TRUE_STEP_S = 4e-3


def process(number: int, level: float, turns: dict[int, float]) -> TrialSummary:
    """One process of level ``level`` (a factor on the step), its turns already disturbed."""
    values = np.array(list(turns.values()))
    step_s = float(np.median(values)) * level
    return TrialSummary(
        trial_id=f"t{number}",
        round=number,
        steps=300,
        steady=True,
        step_time_s=step_s,
        step_time_median_s=step_s,
        step_time_block_s=step_s,
        level_error_share=trimmed(np.log(values))[1],
        samples_per_step=32,
        time_per_sample_s=step_s / 32,
        turn_median_s={turn: value * level for turn, value in turns.items()},
        turn_quartile_s={turn: value * level for turn, value in turns.items()},
    )


def study(random: np.random.Generator, rounds: int, spread: float, drift: float, spikes: float) -> list[list]:
    """Two cells measured in rounds: turns of one round share the machine's drift, processes differ by ``spread``."""
    cells: list[list[TrialSummary]] = [[], []]
    for number in range(rounds):
        machine = random.normal(0.0, drift)
        walk = machine + np.cumsum(random.normal(0.0, drift / 4, len(TURNS)))
        for cell, base_s in enumerate((TRUE_STEP_S, TRUE_STEP_S / SPEED_UP)):
            noise = random.normal(0.0, 0.02, len(TURNS))
            noise += np.where(random.random(len(TURNS)) < spikes, np.abs(random.normal(0.0, 0.4, len(TURNS))), 0.0)
            turns = dict(zip(TURNS, (base_s * np.exp(walk + noise)).tolist(), strict=True))
            cells[cell].append(process(number, math.exp(random.normal(0.0, spread)), turns))
    return cells


@pytest.mark.parametrize("rounds", [2, 3, 5, 10])
@pytest.mark.parametrize(
    ("spread", "drift", "spikes"),
    [(0.01, 0.0, 0.0), (0.05, 0.0, 0.0), (0.03, 0.05, 0.0), (0.02, 0.02, 0.05)],
    ids=["calm", "uneven", "drifting", "spiky"],
)
def test_a_ratio_is_covered(rounds: int, spread: float, drift: float, spikes: float) -> None:
    random = np.random.default_rng(20261130)
    hits = 0
    for _ in range(STUDIES):
        found = ratio_interval(*study(random, rounds, spread, drift, spikes))
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= SPEED_UP <= found.high
    assert hits / STUDIES >= 0.93


@pytest.mark.parametrize("rounds", [2, 3, 5, 10])
def test_two_separate_studies_are_covered(rounds: int) -> None:
    random = np.random.default_rng(7)
    hits = 0
    for _ in range(STUDIES):
        base, other = study(random, rounds, 0.03, 0.02, 0.0)
        found = ratio_interval(base, other, paired=False)
        assert not found.paired
        hits += (found.low or 0.0) <= SPEED_UP <= (found.high or 0.0)
    assert hits / STUDIES >= 0.93


@pytest.mark.parametrize("rounds", [2, 3, 5, 10])
def test_the_time_of_a_cell_is_covered(rounds: int) -> None:
    random = np.random.default_rng(11)
    hits = 0
    for _ in range(STUDIES):
        found = cell_interval(study(random, rounds, 0.04, 0.0, 0.0)[0])
        hits += (found.low or 0.0) <= TRUE_STEP_S <= (found.high or 0.0)
    assert hits / STUDIES >= 0.93


def test_pairing_takes_out_what_both_sides_share() -> None:
    random = np.random.default_rng(5)
    widths = []
    for paired in (True, False):
        found = [ratio_interval(*study(random, 8, 0.01, 0.1, 0.0), paired=paired) for _ in range(40)]
        widths.append(np.median([ratio.half_width_share for ratio in found]))
    assert widths[0] < widths[1] / 3
