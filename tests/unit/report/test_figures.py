from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.report.figures import UNITS, Scale, Span, figure, joined, number, scale_for, span, unit_of

POSITIVE = st.floats(min_value=1e-9, max_value=1e15)
PREFIXES = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
BINARY = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}


def test_one_scale_for_a_column_follows_the_median() -> None:
    assert scale_for("s", [0.00025, 0.0045, 0.0451]) == Scale(1e-3, "ms")
    assert number(0.00025, "s", Scale(1e-3, "ms")) == "0.250"
    assert scale_for("bytes", [3 * 2**20, 2**30, 700 * 2**20]) == Scale(2.0**20, "MiB")


def test_zeros_and_nothing_use_the_base_unit() -> None:
    assert scale_for("bytes", [0.0, None]).suffix == "B"
    assert scale_for("s", []).suffix == "s"
    assert scale_for("flops", [0.0]).suffix == "FLOP/s"


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0.123, "share", "12.3 %"),
        (1.4871, "ratio", "1.49×"),
        (351.2, "ratio", "351×"),
        (46.1e9, "flops", "46.1 GFLOP/s"),
        (5663.7, "samples_per_s", "5,664 samples/s"),
        (12.34, "samples_per_s", "12.3 samples/s"),
        (50000.0, "count", "50,000"),
        (0.62, "cpus", "0.62"),
        (2.0, "cpus", "2"),
        (0.95, "level", "95 %"),
        (125.0, "s", "2 min 05 s"),
        (32.0, "plain", "32"),
        (1.049, "excess", "4.9 %"),
        (0.988, "excess", "\u22121.2 %"),
        (float("inf"), "s", "inf"),
    ],
)
def test_figures_in_sentences(value: float, unit: str, expected: str) -> None:
    assert figure(value, unit) == expected


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("step_time_s", "s"),
        ("samples_per_s", "samples_per_s"),
        ("ceiling_bytes_per_s", "bytes_per_s"),
        ("swap_bytes", "bytes"),
        ("quota_cpus", "cpus"),
        ("achieved_flops", "flops"),
        ("temperature_c", "c"),
        ("phase", "plain"),
    ],
)
def test_unit_of_a_name(name: str, unit: str) -> None:
    assert unit_of(name) == unit
    assert unit in UNITS


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0.99996, "j", "1.00 J"),
        (0.0021, "j", "2.10 mJ"),
        (3.2e-6, "j", "3.20 µJ"),
        (999.96e9, "flops", "1.00 TFLOP/s"),
        (0.0, "bytes", "0 B"),
        (1536.0, "bytes", "1.50 KiB"),
        (97.04, "c", "97.0 °C"),
        (-0.031, "share", "\u22123.1 %"),
        (float("nan"), "share", "nan"),
        (float("-inf"), "bytes", "-inf"),
        (99.999, "ratio", "100.00×"),
    ],
)
def test_figures_at_the_edge_of_their_unit(value: float, unit: str, expected: str) -> None:
    assert figure(value, unit) == expected


@pytest.mark.parametrize(
    ("values", "unit", "expected"),
    [
        (Span(0.0041, 0.0046), "s", "4.10 – 4.60 ms"),
        (Span(0.004, 0.004), "s", "4.00 ms"),
        (Span(0.1, 0.25), "share", "10.0 – 25.0 %"),
        (Span(1.0, 1.5), "ratio", "1.00 – 1.50×"),
        (Span(2.0, 8.0), "plain", "2 – 8"),
        (Span(0.0, 2.0**30), "bytes", "0 – 1.00 GiB"),
        (Span(1.0, float("inf")), "share", "100.0 % – inf"),
    ],
)
def test_range_of_figures_has_its_unit_once(values: Span, unit: str, expected: str) -> None:
    assert span(values, unit) == expected


@pytest.mark.parametrize(("text", "suffix", "expected"), [("3", "", "3"), ("3", "×", "3×"), ("3", "ms", "3 ms")])
def test_a_unit_stands_a_space_behind_its_figure_except_times(text: str, suffix: str, expected: str) -> None:
    assert joined(text, suffix) == expected


def read(shown: str) -> float:
    """The value of a figure with a decimal or binary unit."""
    text, _, suffix = shown.partition(" ")
    factor = BINARY.get(suffix) or PREFIXES[re.sub(r"(FLOP/s|B/s|Hz|J|s)$", "", suffix)]
    return float(text.replace(",", "")) * factor


@given(POSITIVE, st.sampled_from(["flops", "bytes_per_s", "hz", "bytes"]))
def test_a_figure_is_its_value_to_three_digits(value: float, unit: str) -> None:
    if value >= 1.0:
        assert read(figure(value, unit)) == pytest.approx(value, rel=0.006)


@given(st.floats(min_value=1e-9, max_value=59.0))
def test_a_duration_is_its_value_to_three_digits(value: float) -> None:
    assert read(figure(value, "s")) == pytest.approx(value, rel=0.006)


@given(st.lists(POSITIVE, min_size=1, max_size=9), st.sampled_from(sorted(UNITS - {"text"})))
def test_one_scale_writes_every_value_of_a_column(values: list[float], unit: str) -> None:
    scale = scale_for(unit, values)
    shown = [number(value, unit, scale) for value in values]
    assert all(re.fullmatch(r"\N{MINUS SIGN}?[\d,]+(\.\d+)?", text) for text in shown), shown
    assert scale.factor > 0


@given(st.lists(POSITIVE, min_size=2, max_size=9), st.sampled_from(sorted(UNITS - {"text"})))
def test_larger_values_are_never_written_as_smaller(values: list[float], unit: str) -> None:
    scale = scale_for(unit, values)
    shown = [number(value, unit, scale) for value in sorted(values)]
    read_back = [float(text.replace(",", "").replace("\N{MINUS SIGN}", "-")) for text in shown]
    assert read_back == sorted(read_back)


@given(POSITIVE, st.sampled_from(["share", "plain", "c", "w"]))
def test_negative_figure_is_the_positive_one_with_a_true_minus(value: float, unit: str) -> None:
    scale = scale_for(unit, [value])
    assert number(-value, unit, scale) == "\N{MINUS SIGN}" + number(value, unit, scale)


@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from(sorted(UNITS - {"text"})))
def test_no_number_is_too_odd_to_be_written(value: float, unit: str) -> None:
    if not math.isfinite(value) or abs(value) < 1e200:
        assert figure(value, unit)
