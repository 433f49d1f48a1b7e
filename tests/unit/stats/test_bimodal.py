"""The best split in two, against every other split there is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.stats import Bimodality
from pacenote.stats.bimodal import split_in_two

MANY = st.lists(st.floats(1e-4, 10.0), min_size=8, max_size=25)


def found(values: list[float]) -> Bimodality:
    split = split_in_two(np.array(values))
    assert split is not None
    return split


def explained_by(logs: np.ndarray, cut: int) -> float:
    """Share of the variance that is between the groups when the lower ``cut`` values are one of them."""
    within = float(((logs[:cut] - logs[:cut].mean()) ** 2).sum() + ((logs[cut:] - logs[cut:].mean()) ** 2).sum())
    return 1.0 - within / float(((logs - logs.mean()) ** 2).sum())


def test_two_exact_groups_explain_everything() -> None:
    split = found([2.0, 1.0] * 4)
    assert (split.low_s, split.high_s, split.share_high) == (1.0, 2.0, 0.5)
    assert split.explained_share == pytest.approx(1.0)


def test_one_outlier_is_a_group_of_its_own() -> None:
    split = found([1.0] * 9 + [3.0])
    assert (split.low_s, split.high_s) == (1.0, 3.0)
    assert split.share_high == pytest.approx(0.1)


def test_each_group_is_told_by_its_median() -> None:
    split = found([1.0, 1.0, 1.1, 1.1, 1.3, 9.0, 10.0, 10.5])
    assert split.low_s == 1.1
    assert split.high_s == 10.0
    assert split.share_high == 3 / 8


@pytest.mark.parametrize("count", range(8))
def test_fewer_than_eight_steps_are_not_split(count: int) -> None:
    assert split_in_two(np.array([1.0, 2.0] * 4)[:count]) is None


@pytest.mark.parametrize("value", [1e-9, 5e-3, 100.0])
def test_equal_steps_are_not_split(value: float) -> None:
    assert split_in_two(np.full(20, value)) is None


def test_a_step_of_no_length_is_as_short_as_the_clock_can_tell() -> None:
    split = found([0.0] * 4 + [1e-3] * 4)
    assert (split.low_s, split.high_s) == (0.0, 1e-3)
    assert math.isfinite(split.explained_share)


@given(MANY)
def test_no_other_split_explains_more(values: list[float]) -> None:
    split = split_in_two(np.array(values))
    logs = np.sort(np.log(values))
    if split is None:
        assert logs.var() * len(logs) <= 1e-12
        return
    best = max(explained_by(logs, cut) for cut in range(1, len(logs)))
    assert split.explained_share == pytest.approx(best, abs=1e-6)
    assert 0.0 < split.share_high < 1.0
    assert split.low_s <= split.high_s


@given(MANY, st.floats(0.01, 100.0), st.randoms(use_true_random=False))
def test_neither_order_nor_unit_matter(values: list[float], factor: float, random: object) -> None:
    split = split_in_two(np.array(values))
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = split_in_two(np.array(shuffled))
    assert again == split
    if split is not None and np.log(values).std() > 0.01:
        scaled = found([value * factor for value in values])
        assert scaled.explained_share == pytest.approx(split.explained_share, rel=1e-6)


def test_the_shares_named_in_the_description_hold() -> None:
    normal = np.exp(np.random.default_rng(1).normal(0.0, 0.1, 20_000))
    uniform = np.exp(np.linspace(0.0, 0.3, 20_000))
    assert found(normal.tolist()).explained_share == pytest.approx(2 / math.pi, abs=0.01)
    assert found(uniform.tolist()).explained_share == pytest.approx(0.75, abs=0.001)
