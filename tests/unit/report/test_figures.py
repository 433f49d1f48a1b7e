from __future__ import annotations

import pytest

from pacenote.report.figures import UNITS, Scale, figure, number, scale_for, unit_of


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
