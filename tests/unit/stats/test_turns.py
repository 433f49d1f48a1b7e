"""Whether a trial that ran in turns reached a steady state."""

from __future__ import annotations

import numpy as np
import pytest

from pacenote.findings.health.unsteady import DRIFT_ERRORS, DRIFT_SHARE
from pacenote.stats.turns import FEWEST_TURNS, turns_drift, turns_moving, turns_start


def hopping(seed: int, count: int = 12) -> np.ndarray:
    """Turns at one of two levels, 8.0 and 11.3 ms, in no order: what resting does to a process with two threads."""
    draw = np.random.default_rng(seed)
    levels = np.where(draw.random(count) < draw.uniform(0.1, 0.9), 8.0e-3, 11.3e-3)
    return levels * np.exp(draw.normal(0.0, 0.02, count))


def refused(level_s: np.ndarray) -> bool:
    """Whether the rule for unsteady trials would refuse these turns."""
    kept = level_s[turns_start(level_s) :]
    drift = turns_drift(kept)
    large = abs(drift["drift_share"]) > max(DRIFT_SHARE, DRIFT_ERRORS * drift["drift_error_share"])
    return turns_moving(level_s) or large


def test_turns_that_hop_between_two_levels_are_steady() -> None:
    assert sum(refused(hopping(seed)) for seed in range(1000)) <= 10


@pytest.mark.parametrize("count", [6, 8, 10, 12, 20])
@pytest.mark.parametrize("end", [0.6, 1.5, 2.0])
def test_an_even_slope_is_no_steady_state(count: int, end: float) -> None:
    assert refused(np.geomspace(8e-3, 8e-3 * end, count))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("end", [0.6, 1.7])
def test_a_slope_is_seen_through_ordinary_noise(seed: int, end: float) -> None:
    noise = np.exp(np.random.default_rng(seed).normal(0.0, 0.02, 12))
    assert refused(np.geomspace(8e-3, 8e-3 * end, 12) * noise)


@pytest.mark.parametrize("end", [0.95, 1.0, 1.1])
def test_a_slope_that_does_not_matter_is_steady(end: float) -> None:
    assert not refused(np.geomspace(8e-3, 8e-3 * end, 12))


@pytest.mark.parametrize("head", [1, 2, 3, 5])
def test_a_slow_start_is_cut(head: int) -> None:
    noise = np.exp(np.random.default_rng(head).normal(0.0, 0.01, 12))
    level_s = np.where(np.arange(12) < head, 12e-3, 8e-3) * noise
    assert turns_start(level_s) == head
    assert not refused(level_s)


def test_turns_of_one_level_are_all_kept() -> None:
    cut = [turns_start(8e-3 * np.exp(np.random.default_rng(seed).normal(0.0, 0.05, 12))) for seed in range(300)]
    assert sum(bool(found) for found in cut) <= 6


@pytest.mark.parametrize("count", range(FEWEST_TURNS))
def test_with_few_turns_nothing_is_said(count: int) -> None:
    level_s = np.geomspace(1.0, 9.0, count) if count else np.zeros(0)
    assert turns_start(level_s) == 0
    assert not turns_moving(level_s[:5]) or count >= FEWEST_TURNS


def test_the_drift_is_that_of_the_last_third_over_the_first() -> None:
    drift = turns_drift(np.array([1.0, 1.0, 1.0, 1.1, 1.1, 1.1, 1.2, 1.2, 1.2]))
    assert drift["drift_share"] == pytest.approx(0.2)
    assert 0.0 < drift["drift_error_share"] < 0.05


def test_equal_turns_have_neither_drift_nor_error() -> None:
    assert turns_drift(np.full(9, 3e-3)) == {"drift_share": 0.0, "drift_error_share": 0.0}
