"""Every key has words in both languages, and everything the program can say has a key."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pacenote
from pacenote.child.protocol import ERROR_KINDS
from pacenote.findings.codes import CODES, HEALTH
from pacenote.records import ColdStart, Memory, Status
from pacenote.report import locale
from pacenote.report.figures import UNITS
from pacenote.report.locale import en, zh
from pacenote.segment import PHASES

PACKAGE = Path(pacenote.__file__).parent
WORD = re.compile(r"[a-z][a-z0-9_]*")
COUNTED = {"trials", "of_trials"}


def trees(*folders: str) -> Iterator[tuple[Path, ast.AST]]:
    for folder in folders:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def test_both_languages_have_the_same_keys() -> None:
    assert set(en.WORDS) == set(zh.WORDS)


def test_no_key_is_given_twice() -> None:
    for path, tree in trees("report/locale"):
        names = [
            key.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Dict)
            for key in node.keys
            if isinstance(key, ast.Constant) and "." in str(key.value)
        ]
        assert len(names) == len(set(names)), path.name


@pytest.mark.parametrize("key", locale.keys())
def test_both_languages_use_the_same_parameters(key: str) -> None:
    assert set(locale.placeholders(en.WORDS[key])) == set(locale.placeholders(zh.WORDS[key]))


@pytest.mark.parametrize("key", locale.keys())
def test_templates_use_known_formats(key: str) -> None:
    for lang in locale.LANGUAGES:
        for spec in re.findall(r"\{\w+:(\w+)\}", locale.template(lang, key)):
            assert spec == "findings" or spec in UNITS or spec in locale._FAMILIES


@pytest.mark.parametrize("key", sorted(key for key, text in zh.WORDS.items() if re.search("[\u4e00-\u9fff]", text)))
def test_chinese_is_set_as_chinese(key: str) -> None:
    outside = re.sub(r"\{[^}]*\}", "x", zh.WORDS[key])
    assert not re.search("[\u4e00-\u9fff][,;!?(]|[,;!?)][\u4e00-\u9fff]", outside), "ASCII punctuation beside Chinese"
    assert not re.search("[\u4e00-\u9fff][A-Za-z]|[A-Za-wyz][\u4e00-\u9fff]", outside), "no space between scripts"


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_finding_has_a_sentence_from_its_own_parameters(code: str) -> None:
    used = locale.placeholders(locale.template("en", f"finding.{code}"))
    assert set(used) <= set(CODES[code]) | COUNTED


@pytest.mark.parametrize("key", sorted(key for key in en.WORDS if ".without." in key))
def test_variants_work_around_their_parameter(key: str) -> None:
    base, missing = key.split(".without.")
    assert missing in locale.placeholders(en.WORDS[base])
    assert missing not in locale.placeholders(en.WORDS[key])
    assert set(locale.placeholders(en.WORDS[key])) <= set(CODES[base.removeprefix("finding.")])


@pytest.mark.parametrize("code", sorted(HEALTH))
def test_every_health_finding_has_a_short_form_and_a_fix(code: str) -> None:
    assert locale.has(f"short.{code}")
    assert set(locale.placeholders(locale.template("en", f"fix.{code}"))) <= set(HEALTH[code])


@pytest.mark.parametrize("code", sorted(key.removeprefix("finding.") for key in en.WORDS if key.startswith("finding.")))
def test_no_sentence_is_left_from_a_finding_that_is_gone(code: str) -> None:
    assert code.split(".without.")[0] in CODES


def test_fixed_vocabularies_have_words() -> None:
    wanted = [f"phase.{name}" for name in PHASES]
    wanted += [f"status.{status.value}" for status in Status]
    wanted += [f"memory.{name}" for name in Memory.__struct_fields__]
    wanted += [f"cold.{name}" for name in ColdStart.__struct_fields__]
    assert [key for key in wanted if not locale.has(key)] == []


def test_every_lever_has_a_name() -> None:
    from pacenote.levers import LEVERS

    assert [name for name in LEVERS.names() if not locale.has(f"lever.{name}")] == []


def test_every_reason_in_the_program_has_words() -> None:
    found: dict[str, str] = {}
    for path, tree in trees("system", "runner", "levers", "stats", "experiments", "findings", "engines", "child"):
        for node in ast.walk(tree):
            for value in reasons(node):
                found.setdefault(value, path.name)
    missing = {value: name for value, name in found.items() if not locale.has(f"reason.{value}")}
    assert {value: name for value, name in missing.items() if value not in ERROR_KINDS} == {}
    assert len(found) > 10


def reasons(node: ast.AST) -> Iterator[str]:
    """Constants given as ``reason=...`` or ``{"reason": ...}``."""
    values: list[ast.AST] = []
    if isinstance(node, ast.keyword) and node.arg == "reason":
        values = [node.value]
    elif isinstance(node, ast.Dict):
        values = [
            value
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and key.value == "reason"
        ]
    for value in values:
        for inner in ast.walk(value):
            if not isinstance(inner, ast.Constant) or not isinstance(inner.value, str):
                continue
            # Left out: a key that is looked up, and the beginning of a code whose end is computed.
            if WORD.fullmatch(inner.value) and inner.value != "reason" and not inner.value.endswith("_"):
                yield inner.value


def test_every_key_that_the_report_asks_for_exists() -> None:
    """Whole keys written in the report's code; families with a computed end are checked above."""
    asked: set[str] = set()
    for _, tree in trees("report"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say" and node.args:
                first = node.args[0]
                asked |= {
                    inner.value
                    for inner in ast.walk(first)
                    if isinstance(inner, ast.Constant) and not isinstance(first, ast.JoinedStr)
                }
    assert [key for key in sorted(asked) if isinstance(key, str) and "." in key and not locale.has(key)] == []
    page = (PACKAGE / "report" / "assets" / "page.html").read_text(encoding="utf-8")
    named = re.findall(r"""(?:\bw|\bword)\(["']([\w.]+)["']\)""", page)
    assert named
    assert [key for key in named if not locale.has(key)] == []
