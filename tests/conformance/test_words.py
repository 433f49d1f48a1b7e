"""Every key has words in both languages, and everything the program can say has a key."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import reason_codes

import pacenote
from pacenote.findings.codes import CODES, HEALTH
from pacenote.records import ColdStart, Memory, Status
from pacenote.report import locale
from pacenote.report.figures import UNITS
from pacenote.report.locale import en, zh
from pacenote.segment import PHASES

PACKAGE = Path(pacenote.__file__).parent
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
            assert spec in ("findings", "fix") or spec in UNITS or spec in locale._FAMILIES


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


REASONS = reason_codes.find(
    path
    for folder in (
        "system",
        "runner",
        "levers",
        "stats",
        "experiments",
        "findings",
        "engines",
        "child",
        "report",
        "cli",
    )
    for path in (PACKAGE / folder).rglob("*.py")
    if path.parent.name != "locale"
)
WHY_A_STUDY_ENDED = {"rounds", "within", "budget", "interrupted", "nothing_left"}
"""The runner's reasons to stop, which the command line words; see :class:`pacenote.runner.progress.StudyEnded`."""


@pytest.mark.parametrize("code", sorted(set(REASONS) - WHY_A_STUDY_ENDED))
def test_every_reason_in_the_program_has_words(code: str) -> None:
    """Why there is no value, or (short, inside another sentence) which finding stands against it."""
    assert locale.has(f"reason.{code}") or (code in CODES and locale.has(f"short.{code}")), REASONS[code]


def test_no_words_are_left_from_a_reason_that_is_gone() -> None:
    told = {key.removeprefix("reason.") for key in en.WORDS if key.startswith("reason.")}
    assert {code for code in told - set(REASONS) if not code.startswith("calibration_")} == set()


@pytest.mark.parametrize(
    "code",
    [
        "no_effect",  # returned by a method called reason
        "autocast_no_effect",
        "allocator_replaced",
        "no_tf32_switch",  # returned by a method whose answer is assigned to a reason
        "paddle_cpu_fp32_only",
        "dtype_unsupported",  # assigned to a reason
        "nvml_package_missing",  # second of a returned pair
        "process_gone",  # given to a parameter called reason
        "build_without_device",
        "no_smaps_rollup",  # one branch of a conditional
        "no_device",  # what stands behind ``or``
        "one_round",
        "no_accelerator",  # the end of a key
        "not_calibrated",
    ],
)
def test_the_search_for_reasons_sees_every_way_to_give_one(code: str) -> None:
    assert code in REASONS


def test_every_status_of_a_calibration_has_words() -> None:
    """Their codes are computed, so no search can find them."""
    failed = [status for status in Status if status is not Status.FINISHED]
    assert [status for status in failed if not locale.has(f"reason.calibration_{status.value}")] == []


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
