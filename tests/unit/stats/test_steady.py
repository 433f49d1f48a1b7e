"""Where the steady state begins: exact starts of exact series, and what holds for all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.stats.steady import MAD_TO_SIGMA, MEDIAN_ERROR, median_error, steady_start, still_moving

SERIES = st.lists(st.floats(1e-4, 1.0), min_size=0, max_size=120).map(np.array)


def level(*parts: tuple[int, float]) -> np.ndarray:
    """Steps of 1 ms times a factor, so many of each."""
    return np.concatenate([np.full(count, factor * 1e-3) for count, factor in parts])


@pytest.mark.parametrize("head", [5, 10, 25, 50])
@pytest.mark.parametrize("factor", [0.5, 1.1, 3.0])
def test_a_head_of_whole_blocks_is_cut_exactly(head: int, factor: float) -> None:
    assert steady_start(level((head, factor), (200, 1.0))) == head


@pytest.mark.parametrize(("head", "start"), [(1, 1), (2, 2), (3, 5), (4, 5)])
def test_a_head_shorter_than_a_block_is_cut_by_steps_or_with_its_block(head: int, start: int) -> None:
    """Two steps of five do not move the median of their block, three do."""
    assert steady_start(level((head, 3.0), (100, 1.0))) == start


@pytest.mark.parametrize("factor", [0.99, 1.01, 1.019])
def test_a_head_within_two_per_cent_stays(factor: float) -> None:
    assert steady_start(level((20, factor), (100, 1.0))) == 0


def test_no_more_than_half_is_cut() -> None:
    assert steady_start(level((90, 2.0), (30, 1.0))) <= 60 + 5


def test_a_spike_in_the_middle_cuts_nothing() -> None:
    assert steady_start(level((40, 1.0), (1, 50.0), (60, 1.0))) == 0


@pytest.mark.parametrize("count", range(1, 9))
def test_a_constant_series_is_steady_from_its_first_step(count: int) -> None:
    assert steady_start(level((count, 1.0))) == 0


@given(SERIES)
def test_the_start_is_a_step_of_the_series(series: np.ndarray) -> None:
    start = steady_start(series)
    assert 0 <= start <= len(series) // 2 + 5
    assert start == 0 or start < len(series)


@given(SERIES, st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_unit_does_not_matter(series: np.ndarray, factor: float) -> None:
    assert steady_start(series * factor) == steady_start(series)
    assert still_moving(series * factor) == still_moving(series)


@given(SERIES)
def test_asking_changes_nothing(series: np.ndarray) -> None:
    before = series.copy()
    steady_start(series)
    still_moving(series)
    assert np.array_equal(before, series)


def test_steps_of_no_length_do_not_break_it() -> None:
    assert steady_start(np.zeros(50)) == 0
    assert not still_moving(np.zeros(50))


@pytest.mark.parametrize(
    ("end", "moving"),
    [(1.0, False), (1.1, False), (1.2, False), (1.8, True), (3.0, True), (0.4, True)],
)
def test_an_even_slope_is_still_moving_when_it_is_steep(end: float, moving: bool) -> None:
    assert still_moving(np.geomspace(1e-3, end * 1e-3, 400)) == moving


def test_a_series_that_reached_its_level_moves_no_more() -> None:
    falling = 1e-3 * (1 + np.exp(-np.arange(400) / 15))
    assert steady_start(falling) > 0
    assert not still_moving(falling)


@pytest.mark.parametrize("count", range(8))
def test_too_few_steps_are_never_said_to_move(count: int) -> None:
    assert not still_moving(np.geomspace(1e-3, 2e-3, 8)[: min(count, 3)])


def test_the_error_of_a_median_by_hand() -> None:
    logs = np.array([0.0, 1.0, 2.0, 3.0, 100.0])  # median 2, deviations 2 1 0 1 98
    assert median_error(logs) == pytest.approx(MEDIAN_ERROR * MAD_TO_SIGMA * 1.0 / math.sqrt(5))
    assert median_error(np.array([4.0])) == 0.0


def test_the_error_of_a_median_is_that_of_repeated_draws() -> None:
    random = np.random.default_rng(3)
    draws = random.normal(0.0, 0.05, (4000, 101))
    spread = float(np.median(draws, axis=1).std())
    assert np.mean([median_error(row) for row in draws[:400]]) == pytest.approx(spread, rel=0.05)
    assert pytest.approx(math.sqrt(math.pi / 2), abs=1e-4) == MEDIAN_ERROR
