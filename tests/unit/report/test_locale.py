from __future__ import annotations

import pytest

from pacenote.errors import UnknownNameError
from pacenote.report import locale


@pytest.mark.parametrize(
    ("lang", "expected"),
    [("en", "en"), ("zh", "zh"), ("zh_CN.UTF-8", "zh"), ("zh-Hans", "zh"), ("EN-gb", "en"), ("C", "en")],
)
def test_asked_language(lang: str, expected: str) -> None:
    assert locale.resolve(lang, {"LANG": "de_DE"}) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US", "PACENOTE_LANG": "zh"}, "zh"),
        ({"LANG": "fr_FR"}, "en"),
        ({"LC_ALL": "", "LANG": "zh_TW"}, "zh"),
    ],
)
def test_language_of_the_surroundings(environ: dict[str, str], expected: str) -> None:
    assert locale.resolve(None, environ) == expected


def test_unknown_language_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="Known: en, zh"):
        locale.resolve("fr")


def test_parameters_are_shown_in_their_unit() -> None:
    shown = locale.text("en", "finding.cell_time", step_time_s=0.00435, samples_per_s=7356.4)
    assert shown == "4.35 ms per step, 7,356 samples/s."
    assert (
        locale.text("zh", "finding.cell_time", step_time_s=0.00435, samples_per_s=7356.4)
        == "每步 4.35 ms，7,356 样本/s。"
    )


def test_lists_of_codes_become_phrases_in_both_languages() -> None:
    params = {"cell": "a", "baseline": "b", "reasons": ["swapping", {"code": "steal", "params": {}}]}
    assert "swapping, CPU time taken by the host" in locale.text("en", "finding.ratio_refused", **params)
    assert "内存交换、CPU 时间被宿主机拿走" in locale.text("zh", "finding.ratio_refused", **params)


def test_missing_parameter_is_unknown_and_not_an_error() -> None:
    assert locale.text("en", "finding.steal") == "The host gave unknown of this machine's CPU time to other guests."


def test_unknown_code_is_shown_with_its_parameters() -> None:
    assert locale.text("zh", "finding.of_a_plugin", wait_s=0.5) == "of_a_plugin: wait_s=500 ms"
    assert locale.text("en", "reason.some_new_reason") == "some new reason"


def test_stored_text_never_becomes_a_template() -> None:
    hostile = "{lang} {0.__class__} {a[b]} %s"
    assert hostile in locale.text("en", "finding.ratio_refused", cell=hostile, baseline="b", reasons=[])
    assert locale.text("en", "literal", text=hostile) == hostile


def test_template_has_no_attribute_access() -> None:
    words = locale._Words("en", {})
    assert words.vformat("{value.__class__}", (), {"value": 1}) == "unknown"


@pytest.mark.parametrize(
    ("shown", "expected"), [("2 min 05 s", "2 分 05 秒"), ("3 h 10 min", "3 小时 10 分"), ("5 ms", "5 ms")]
)
def test_durations_in_chinese(shown: str, expected: str) -> None:
    assert locale.localise("zh", shown) == expected
    assert locale.localise("en", shown) == shown
