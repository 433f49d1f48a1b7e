"""The trimmed mean and its error, computed by hand and held to its properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.stats.trimmed import trimmed

VALUES = st.lists(st.floats(-100, 100), min_size=1, max_size=20)


def test_one_of_five_is_left_out_at_each_end() -> None:
    value, error = trimmed(np.array([100.0, 3.0, 1.0, 4.0, 2.0]))
    assert value == 3.0  # of 2, 3 and 4
    # Winsorised: 2 2 3 4 4, variance 1; Yuen: 1 · sqrt(4 / (3 · 2)).
    assert error == pytest.approx(math.sqrt(2 / 3))


def test_two_of_ten_are_left_out_at_each_end() -> None:
    value, error = trimmed(np.array([-50.0, 0.0, 1, 2, 3, 4, 5, 6, 70, 80]))
    assert value == 3.5
    winsorised = np.array([1, 1, 1, 2, 3, 4, 5, 6, 6, 6])
    assert error == pytest.approx(winsorised.std(ddof=1) * math.sqrt(9 / (6 * 5)))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_of_fewer_than_five_nothing_is_left_out(count: int) -> None:
    values = np.array([1.0, 4.0, 2.0, 9.0])[:count]
    value, error = trimmed(values)
    assert value == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / math.sqrt(count))


def test_one_value_has_no_error() -> None:
    assert trimmed(np.array([7.5])) == (7.5, 0.0)


@given(VALUES)
def test_it_lies_between_the_ends_and_its_error_is_not_negative(values: list[float]) -> None:
    value, error = trimmed(np.array(values))
    assert min(values) - 1e-9 <= value <= max(values) + 1e-9
    assert error >= 0.0


@given(VALUES, st.floats(-50, 50), st.floats(0.1, 10))
def test_it_moves_and_stretches_with_its_values(values: list[float], shift: float, factor: float) -> None:
    value, error = trimmed(np.array(values))
    moved, same = trimmed(np.array(values) * factor + shift)
    assert moved == pytest.approx(value * factor + shift, abs=1e-6)
    assert same == pytest.approx(error * factor, abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.floats(1, 1e6))
def test_how_wild_one_of_five_is_does_not_matter(quiet: list[float], wild: float) -> None:
    assert trimmed(np.array([*quiet, wild])) == trimmed(np.array([*quiet, 1.0]))


@given(VALUES)
def test_the_order_does_not_matter(values: list[float]) -> None:
    assert trimmed(np.array(values)) == trimmed(np.array(values[::-1]))
