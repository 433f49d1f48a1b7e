"""Numbers as people read them: right within the digits shown, for any size."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote import units
from pacenote.records import Counters, Effort, Sensors, Turn

SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
BYTES = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}
DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}

sizes = st.floats(min_value=1e-9, max_value=1e14, allow_nan=False)


def read(text: str) -> tuple[float, str]:
    amount, _, unit = text.partition(" ")
    return float(amount.replace(",", "")), unit


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(0, "0"), (1, "1.00"), (12.345, "12.3"), (123.456, "123"), (1234.5, "1,230"), (999.95, "1,000")],
        *[(0.00123456, "0.00123"), (-4.567, "-4.57"), (math.inf, "inf"), (1e14, "100,000,000,000,000")],
    ],
)
def test_significant_digits(value: float, text: str) -> None:
    assert units.significant(value) == text


@given(sizes, st.integers(1, 6))
def test_what_is_shown_is_right_to_its_last_digit(value: float, digits: int) -> None:
    shown = float(units.significant(value, digits).replace(",", ""))
    assert shown == pytest.approx(value, rel=0.51 * 10 ** (1 - digits))
    assert "e" not in units.significant(value, digits)


@given(sizes)
def test_a_negative_number_is_its_mirror_image(value: float) -> None:
    assert units.significant(-value) == "-" + units.significant(value)


@pytest.mark.parametrize(
    ("value_s", "text"),
    [
        *[(0, "0 s"), (4.35e-3, "4.35 ms"), (13.3, "13.3 s"), (1e-6, "1.00 µs"), (3.2e-8, "32.0 ns")],
        *[(119.0, "119 s"), (125, "2 min 05 s"), (11400, "3 h 10 min"), (1e-11, "0.0100 ns"), (-0.5, "-500 ms")],
        *[(0.99999, "1.00 s"), (9.9999e-4, "1.00 ms"), (math.inf, "inf s"), (math.nan, "nan s")],
    ],
)
def test_durations(value_s: float, text: str) -> None:
    assert units.seconds(value_s) == text


@given(st.floats(min_value=1e-8, max_value=119.0))
def test_a_duration_reads_back(value_s: float) -> None:
    amount, unit = read(units.seconds(value_s))
    assert amount * SECONDS[unit] == pytest.approx(value_s, rel=6e-3)
    assert amount < 1000


@given(st.floats(min_value=120.0, max_value=1e8))
def test_a_long_duration_reads_back(value_s: float) -> None:
    text = units.seconds(value_s)
    parts = {unit: int(amount) for amount, unit in re.findall(r"(\d+) (h|min|s)", text)}
    total_s = 3600 * parts.get("h", 0) + 60 * parts.get("min", 0) + parts.get("s", 0)
    assert 0 <= value_s - total_s < (60 if "h" in parts else 1)
    assert parts.get("s", 0) < 60
    assert parts["min"] < 60


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (1, "1.00 B"), (1023, "1,020 B"), (1024, "1.00 KiB"), (1.2e9, "1.12 GiB"), (2.0**50, "1,020 TiB")],
)
def test_amounts_of_memory(value: float, text: str) -> None:
    assert units.size(value) == text


@given(st.floats(min_value=1.0, max_value=2.0**49))
def test_an_amount_of_memory_reads_back(value: float) -> None:
    amount, unit = read(units.size(value))
    assert amount * BYTES[unit] == pytest.approx(value, rel=6e-3)
    assert amount < 1024.01


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        *[(46.1e9, "FLOP/s", "46.1 GFLOP/s"), (3770, "samples/s", "3.77 ksamples/s"), (0, "FLOP", "0 FLOP")],
        *[(0.5, "W", "0.500 W"), (999_999, "x", "1.00 Mx"), (2.5e15, "FLOP/s", "2.50 PFLOP/s")],
    ],
)
def test_rates(value: float, unit: str, text: str) -> None:
    assert units.decimal(value, unit) == text


@given(st.floats(min_value=1.0, max_value=9e17))
def test_a_rate_reads_back(value: float) -> None:
    amount, prefix = read(units.decimal(value, ""))
    assert amount * DECIMAL[prefix] == pytest.approx(value, rel=6e-3)
    assert 1 <= amount < 1000


@pytest.mark.parametrize(("share", "text"), [(0, "0.0 %"), (0.1234, "12.3 %"), (1, "100.0 %"), (-0.05, "-5.0 %")])
def test_shares(share: float, text: str) -> None:
    assert units.percent(share) == text


def test_every_number_of_a_record_carries_its_unit() -> None:
    """Counts of whole things (steps, turns, switches) need none."""
    plain = {"steps", "turn", "turns", "max_steps", "losses", "counters"}
    counted = {"minor_faults", "major_faults", "voluntary_switches", "involuntary_switches"}
    for record in (Counters, Effort, Sensors, Turn):
        for name in record.__struct_fields__:
            known = name in plain | counted or any(name.endswith(suffix) for suffix in units.SUFFIX_UNITS)
            assert known, f"{record.__name__}.{name}"
