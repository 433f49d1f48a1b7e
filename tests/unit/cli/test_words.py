"""Both languages say the same things with the same parameters."""

from __future__ import annotations

import string

import pytest

from pacenote.cli.words import WORDS, say


def parameters(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_the_languages_have_the_same_keys() -> None:
    assert set(WORDS["en"]) == set(WORDS["zh"])


@pytest.mark.parametrize("key", sorted(WORDS["en"]))
def test_the_languages_use_the_same_parameters(key: str) -> None:
    assert parameters(WORDS["en"][key]) == parameters(WORDS["zh"][key])


def test_chinese_is_chinese() -> None:
    same = {key for key in WORDS["en"] if WORDS["en"][key] == WORDS["zh"][key]}
    assert same == {"unknown"}


def test_say_fills_the_template() -> None:
    assert say("en", "progress.ended", rounds=3) == "3 round(s) measured."
