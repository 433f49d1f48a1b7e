from __future__ import annotations

import pytest

from pacenote.cli.values import duration_s, items, share
from pacenote.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90", 90.0), ("90s", 90.0), ("1.5", 1.5), ("3m", 180.0), ("1h30m", 5400.0), ("2M5S", 125.0), ("none", None)],
)
def test_durations(text: str, expected: float | None) -> None:
    assert duration_s(text, "--time-budget") == expected


@pytest.mark.parametrize("text", ["", "0", "0s", "-3", "3 minutes", "m", "1d"])
def test_a_time_that_is_none_names_the_option_and_the_form(text: str) -> None:
    with pytest.raises(UsageError, match=r"--time-budget cannot be .*90s, 3m"):
        duration_s(text, "--time-budget")


@pytest.mark.parametrize(("text", "expected"), [("2%", 0.02), ("0.02", 0.02), (" 0.5 % ", 0.005)])
def test_shares(text: str, expected: float) -> None:
    assert share(text, "--within") == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", "2", "0", "-1%", "100%", "few"])
def test_a_share_that_is_none_names_the_option_and_the_form(text: str) -> None:
    with pytest.raises(UsageError, match=r"--within cannot be .*2% or 0\.02"):
        share(text, "--within")


def test_items() -> None:
    assert items(None) == []
    assert items("32") == ["32"]
    assert items("32, 256") == ["32", "256"]
    with pytest.raises(UsageError, match="empty value"):
        items("32,,256")
