"""What sections are made of: readings, intervals and estimates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.records import Reading
from pacenote.report.blocks import Datum, estimate, interval, literal, reading, say
from pacenote.report.words import show, speak

PLACES = st.floats(min_value=1e-9, max_value=1e12)


def test_known_reading_is_its_value() -> None:
    assert reading(Reading(value=0.0, method="measured")) == Datum(value=0.0)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Reading(reason="no_sensor"), "no such sensor"),
        (Reading(), "not recorded"),
        (Reading(reason="odd_one"), "odd one"),
    ],
)
def test_unknown_reading_is_its_reason(found: Reading, expected: str) -> None:
    reason = reading(found).reason
    assert reason is not None
    assert speak("en", reason) == expected


@pytest.mark.parametrize(("low", "high"), [(None, None), (1.0, None), (None, 1.0)])
def test_half_an_interval_is_none(low: float | None, high: float | None) -> None:
    assert interval(low, high, processes=3) is None
    assert estimate(2.0, low, high, processes=3) == Datum(value=2.0)


@pytest.mark.parametrize(
    ("low", "high", "processes", "too_wide"),
    [
        (1.0, 10.0, 2, False),
        (1.0, 10.1, 2, True),
        (0.0, 1.0, 2, True),
        (-1.0, 1.0, 2, True),
        (1.0, 1000.0, 3, False),
        (1.0, 1000.0, None, False),
        (1.0, 1000.0, 1, False),
    ],
)
def test_interval_of_two_processes_may_span_a_factor_of_ten(
    low: float, high: float, processes: int | None, too_wide: bool
) -> None:
    found = interval(low, high, processes=processes)
    assert found is not None
    assert (found.text is not None) is too_wide
    assert (found.low is None) is too_wide


def test_too_wide_is_said_in_both_languages() -> None:
    found = interval(1.0, 100.0, processes=2)
    assert found is not None
    assert found.text is not None
    assert speak("en", found.text) == "too wide to say (2 processes)"
    assert speak("zh", found.text) == "太宽，无法判断（2 个进程）"


def test_estimate_keeps_its_value_when_the_interval_says_nothing() -> None:
    found = estimate(5.0, 1.0, 100.0, processes=2)
    assert show(found, "plain").number == "5"
    assert found.reason is not None


@given(PLACES, PLACES, st.integers(min_value=1, max_value=20))
def test_an_interval_is_shown_or_its_absence_explained(one: float, two: float, processes: int) -> None:
    low, high = sorted((one, two))
    found = estimate(low, low, high, processes=processes)
    assert found.value == low
    assert (found.low, found.high) == (low, high) if found.reason is None else (None, None)
    assert found.reason is None or (processes == 2 and high > 10 * low)


@given(st.text())
def test_literal_text_is_the_same_in_both_languages(text: str) -> None:
    assert speak("en", literal(text)) == speak("zh", literal(text)) == text


def test_messages_are_equal_by_what_they_say() -> None:
    assert say("pair", cell="a", baseline="b") == say("pair", baseline="b", cell="a")
    assert say("pair", cell="a") != say("pair", cell="b")
