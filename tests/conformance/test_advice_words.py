"""Every code of advice has a sentence in both languages, made of its own parameters only."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import pacenote
from pacenote.advise.bill import FORMULAS
from pacenote.advise.candidates import TEAMS, Note
from pacenote.advise.codes import CODES, FIGURES
from pacenote.advise.memory import STRATEGIES
from pacenote.report import advice, locale

TURNS = {"price", "time", "loader", "interruptions", "hour_worth", "deadline", "money", "jobs", "gain"}


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_a_sentence_of_its_own_parameters(code: str) -> None:
    for lang in locale.LANGUAGES:
        used = locale.placeholders(locale.template(lang, f"advice.{code}"))
        assert set(used) <= set(CODES[code]), lang


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_sentence_can_be_filled(code: str) -> None:
    params = {name: ["x"] if name in ("names", "figures") else "x" if name in TEXTS else 1.0 for name in CODES[code]}
    for lang in locale.LANGUAGES:
        said = advice.say(lang, Note(code=code, params=params))
        assert "{" not in said
        assert "unknown" not in said


TEXTS = {"name", "second", "first", "currency", "team", "cause", "region", "date", "strategy"}


def test_no_sentence_is_left_from_a_code_that_is_gone() -> None:
    keys = locale.keys()
    told = {key.removeprefix("advice.").removesuffix(".exact") for key in keys if key.startswith("advice.")}
    assert told == set(CODES)


def test_fixed_vocabularies_have_words() -> None:
    wanted = [f"line.{code}" for code in (*FORMULAS, "total")]
    wanted += [f"figure.{name}" for name in FIGURES]
    wanted += [f"team.{name}" for name in TEAMS]
    wanted += [f"strategy.{name}" for name in STRATEGIES]
    wanted += [f"turn.{name}" for name in TURNS]
    assert [key for key in wanted if not locale.has(key)] == []


def test_every_note_in_the_program_is_in_the_table() -> None:
    """Codes written as ``Note(code="…")``, and lines of a bill that dominate it."""
    seen = {f"{code}_dominates" for code in ("egress", "setup", "idle", "disk", "spot_loss", "rounding")}
    for path in sorted((Path(pacenote.__file__).parent / "advise").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Note":
                for word in node.keywords:
                    if word.arg == "code":
                        seen |= {one.value for one in ast.walk(word.value) if isinstance(one, ast.Constant)}
    assert {code for code in seen if isinstance(code, str)} - set(CODES) - {"best_", "_dominates"} <= {
        "cloud",
        "free",
        "own",
    }
