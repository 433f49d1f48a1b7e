"""Student's factors against closed forms, the normal limit and the density integrated by hand."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.stats.student import _coverage, _incomplete_beta, t_factor

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


@pytest.mark.parametrize("level", LEVELS)
def test_one_degree_is_the_cauchy_distribution(level: float) -> None:
    assert t_factor(1, level) == pytest.approx(math.tan(math.pi * level / 2), rel=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_two_degrees_have_a_closed_form(level: float) -> None:
    assert t_factor(2, level) == pytest.approx(level * math.sqrt(2 / (1 - level**2)), rel=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_four_degrees_have_a_closed_form(level: float) -> None:
    """Quantile of four degrees: 2 sqrt(q - 1) with q = cos(arccos(sqrt(a)) / 3) / sqrt(a), a = 1 - level²."""
    a = 1 - level**2
    q = math.cos(math.acos(math.sqrt(a)) / 3) / math.sqrt(a)
    assert t_factor(4, level) == pytest.approx(2 * math.sqrt(q - 1), rel=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_many_degrees_are_the_normal_distribution(level: float) -> None:
    normal = NormalDist().inv_cdf((1 + level) / 2)
    assert t_factor(1e6, level) == pytest.approx(normal, rel=1e-5)
    assert t_factor(30, level) > normal


@pytest.mark.parametrize("degrees", [1, 1.37, 2, 3.5, 7, 12.25, 40])
@pytest.mark.parametrize("t", [0.1, 1.0, 2.5])
def test_coverage_is_the_integral_of_the_density(degrees: float, t: float) -> None:
    x = np.linspace(-t, t, 20_001)
    log_peak = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    density = np.exp(log_peak - (degrees + 1) / 2 * np.log1p(x**2 / degrees))
    width = x[1] - x[0]
    integral = float((density.sum() - (density[0] + density[-1]) / 2) * width)
    assert _coverage(t, degrees) == pytest.approx(integral, abs=1e-7)


@given(st.floats(1, 200), st.floats(0.05, 0.999))
def test_the_factor_is_where_the_coverage_is_the_level(degrees: float, level: float) -> None:
    assert _coverage(t_factor(degrees, level), degrees) == pytest.approx(level, abs=1e-9)


@given(st.floats(1, 100), st.floats(1.01, 3), st.floats(0.1, 0.99))
def test_more_degrees_make_a_smaller_factor_and_more_level_a_larger_one(
    degrees: float, more: float, level: float
) -> None:
    assert t_factor(degrees * more, level) < t_factor(degrees, level)
    assert t_factor(degrees, (1 + level) / 2) > t_factor(degrees, level)


def test_a_broken_number_of_degrees_lies_between_its_neighbours() -> None:
    assert t_factor(3, 0.95) < t_factor(2.5, 0.95) < t_factor(2, 0.95)


@given(st.floats(0.5, 50), st.floats(0.5, 50), st.floats(0.001, 0.999))
def test_the_incomplete_beta_function_is_symmetric(a: float, b: float, x: float) -> None:
    assert _incomplete_beta(a, b, x) + _incomplete_beta(b, a, 1 - x) == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize(("x", "expected"), [(0.0, 0.0), (1.0, 1.0), (-0.5, 0.0), (1.5, 1.0)])
def test_the_incomplete_beta_function_has_ends(x: float, expected: float) -> None:
    assert _incomplete_beta(2.0, 3.0, x) == expected


@pytest.mark.parametrize("x", [0.1, 0.5, 0.9])
def test_the_incomplete_beta_function_of_whole_numbers_is_a_polynomial(x: float) -> None:
    assert _incomplete_beta(1.0, 1.0, x) == pytest.approx(x)
    assert _incomplete_beta(2.0, 1.0, x) == pytest.approx(x**2)
    assert _incomplete_beta(2.0, 2.0, x) == pytest.approx(3 * x**2 - 2 * x**3)
