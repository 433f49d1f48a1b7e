"""Both languages say the same things with the same parameters."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from pacenote.cli import words
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


def test_every_word_is_used() -> None:
    folder = Path(words.__file__).parent
    source = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py") if path.name != "words.py")
    # Some keys are put together: the beginning stands in the source, and the rest comes from a list of names.
    families = tuple(set(re.findall(r"""f["']([a-z]+[._][a-z_.]*)\{""", source)))
    whole = set(re.findall(r"""["']([a-z_.]+)["']""", source))
    assert [key for key in WORDS["en"] if key not in whole and not key.startswith(families)] == []
